import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { RoomMembers } from '../room-members.js';
import { ClassroomsController } from './classrooms.controller.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [ClassroomsController], providers: [RoomMembers] })
export class ClassroomsModule {}
