import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, recordController } from '../../../http/kit.js';
import { RoomMembers } from '../room-members.js';
import { GroupsController } from './groups.controller.js';
import { GROUP } from './groups.view.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [recordController(GROUP), GroupsController],
  providers: [RoomMembers],
})
export class GroupsModule {}
