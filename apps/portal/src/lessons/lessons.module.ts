import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { SchedulingModule } from '@app/scheduling';
import { BookingController } from './booking.controller.js';
import { BookingService } from './booking.service.js';
import { Choices } from './choices.js';
import { SecondLook } from './in-the-way.js';
import { FreeTimes } from './free-times.js';
import { LessonChangesController } from './lesson-changes.controller.js';
import { LessonController } from './lesson.controller.js';
import { LessonPage } from './lesson.page.js';
import { LessonsController } from './lessons.controller.js';
import { LessonsService } from './lessons.service.js';

/** Lessons: when they are, booking, moving and canceling them, and completing those that have begun. */
@Module({
  imports: [BillingModule, SchedulingModule],
  // Before the pages of lessons: `new` is none.
  controllers: [BookingController, LessonsController, LessonController, LessonChangesController],
  providers: [BookingService, Choices, FreeTimes, LessonPage, LessonsService, SecondLook],
  exports: [FreeTimes],
})
export class LessonsModule {}
