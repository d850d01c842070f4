import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { GroupsController } from './groups.controller.js';
import { GroupsService } from './groups.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [GroupsController], providers: [GroupsService] })
export class GroupsModule {}
