import { Module } from '@nestjs/common';
import { TeachingModule } from '@app/teaching';
import { HttpModule, listController } from '../../../http/kit.js';
import { LESSON_PLAN_WRITES } from './lesson-plans.controller.js';
import { LESSON_PLANS } from './lesson-plans.queries.js';

@Module({ imports: [HttpModule, TeachingModule], controllers: [listController(LESSON_PLANS), ...LESSON_PLAN_WRITES] })
export class LessonPlansModule {}
