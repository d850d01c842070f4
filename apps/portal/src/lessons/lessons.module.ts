import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { Choices } from './choices.js';
import { LessonController } from './lesson.controller.js';
import { LessonsController } from './lessons.controller.js';
import { LessonsService } from './lessons.service.js';

/** Lessons: when they are, and completing those that have begun. */
@Module({
  imports: [BillingModule],
  controllers: [LessonsController, LessonController],
  providers: [Choices, LessonsService],
})
export class LessonsModule {}
