import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { ParentsController } from './parents.controller.js';
import { ParentsService } from './parents.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [ParentsController], providers: [ParentsService] })
export class ParentsModule {}
