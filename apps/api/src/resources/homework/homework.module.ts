import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { HomeworkController } from './homework.controller.js';
import { HomeworkService } from './homework.service.js';

@Module({ imports: [HttpModule], controllers: [HomeworkController], providers: [HomeworkService] })
export class HomeworkModule {}
