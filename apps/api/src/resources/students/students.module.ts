import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { listController } from '../../http/openapi/list-controller.js';
import { StudentsController } from './students.controller.js';
import { STUDENTS } from './students.queries.js';
import { StudentsService } from './students.service.js';

@Module({
  imports: [AccountsModule, HttpModule],
  controllers: [listController(STUDENTS), StudentsController],
  providers: [StudentsService],
})
export class StudentsModule {}
