import { Module } from '@nestjs/common';
import { TeachingModule } from '@app/teaching';
import { HttpModule, listController } from '../../../http/kit.js';
import { LessonPlansController } from './lesson-plans.controller.js';
import { LESSON_PLANS } from './lesson-plans.queries.js';
import { LessonPlansService } from './lesson-plans.service.js';

@Module({
  imports: [HttpModule, TeachingModule],
  controllers: [listController(LESSON_PLANS), LessonPlansController],
  providers: [LessonPlansService],
})
export class LessonPlansModule {}
