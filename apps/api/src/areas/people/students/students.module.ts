import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { STUDENT_WRITES } from './students.controller.js';
import { STUDENT_BALANCE, STUDENTS } from './students.queries.js';

const STUDENT = recordController({
  ...STUDENTS,
  id: 'get_student',
  path: 'v1/students/:student_id',
  summary: 'Returns one student',
  description: 'A `pending` student shows only what the organization supplied.',
});

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(STUDENTS), STUDENT, recordController(STUDENT_BALANCE), ...STUDENT_WRITES],
})
export class StudentsModule {}
