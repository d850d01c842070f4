import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { OrganizationController } from './organization.controller.js';
import { OrganizationService } from './organization.service.js';

@Module({ imports: [HttpModule], controllers: [OrganizationController], providers: [OrganizationService] })
export class OrganizationModule {}
