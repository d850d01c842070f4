import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { RoomMembers } from '../room-members.js';
import { ClassroomsController } from './classrooms.controller.js';
import { CLASSROOMS } from './classrooms.queries.js';
import { ClassroomsService } from './classrooms.service.js';

const CLASSROOM = recordController({
  ...CLASSROOMS,
  id: 'get_classroom',
  path: 'v1/classrooms/:classroom_id',
  summary: 'Returns one classroom',
});

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(CLASSROOMS), CLASSROOM, ClassroomsController],
  providers: [ClassroomsService, RoomMembers],
})
export class ClassroomsModule {}
