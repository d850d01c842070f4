import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { HomeworkController } from './homework.controller.js';

@Module({ imports: [HttpModule], controllers: [HomeworkController] })
export class HomeworkModule {}
