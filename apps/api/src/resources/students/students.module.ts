import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { StudentsController } from './students.controller.js';
import { StudentsService } from './students.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [StudentsController], providers: [StudentsService] })
export class StudentsModule {}
