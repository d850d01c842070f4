import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { SchedulingModule } from '@app/scheduling';
import { Choices } from './choices.js';
import { SecondLook } from './in-the-way.js';
import { LessonChangesController } from './lesson-changes.controller.js';
import { LessonController } from './lesson.controller.js';
import { LessonPage } from './lesson.page.js';
import { LessonsController } from './lessons.controller.js';
import { LessonsService } from './lessons.service.js';

/** Lessons: when they are, moving and canceling them, and completing those that have begun. */
@Module({
  imports: [BillingModule, SchedulingModule],
  controllers: [LessonsController, LessonController, LessonChangesController],
  providers: [Choices, LessonPage, LessonsService, SecondLook],
})
export class LessonsModule {}
