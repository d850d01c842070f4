import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { CLASSROOM_WRITES } from './classrooms.controller.js';
import { CLASSROOMS } from './classrooms.queries.js';

const CLASSROOM = recordController({
  ...CLASSROOMS,
  id: 'get_classroom',
  path: 'v1/classrooms/:classroom_id',
  summary: 'Returns one classroom',
});

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(CLASSROOMS), CLASSROOM, ...CLASSROOM_WRITES],
})
export class ClassroomsModule {}
