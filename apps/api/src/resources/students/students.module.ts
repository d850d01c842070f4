import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { StudentsController } from './students.controller.js';
import { StudentsService } from './students.service.js';

@Module({ imports: [HttpModule], controllers: [StudentsController], providers: [StudentsService] })
export class StudentsModule {}
