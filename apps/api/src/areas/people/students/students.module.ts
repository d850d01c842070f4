import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule, listController } from '../../../http/kit.js';
import { StudentsController } from './students.controller.js';
import { STUDENTS } from './students.queries.js';
import { Offboard } from '../offboard.js';
import { StudentsService } from './students.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(STUDENTS), StudentsController],
  providers: [Offboard, StudentsService],
})
export class StudentsModule {}
