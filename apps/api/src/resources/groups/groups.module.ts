import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { GroupsController } from './groups.controller.js';
import { GroupsService } from './groups.service.js';

@Module({ imports: [HttpModule], controllers: [GroupsController], providers: [GroupsService] })
export class GroupsModule {}
