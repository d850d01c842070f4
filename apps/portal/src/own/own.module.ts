import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { MessagingModule } from '@app/messaging';
import { SchedulingModule } from '@app/scheduling';
import { OwnLessonsController } from './own-lessons.controller.js';
import { OwnLessons } from './own-lessons.service.js';

/** Somebody's own pages in an organization: of tutors, parents and students. */
@Module({
  imports: [BillingModule, MessagingModule, SchedulingModule],
  controllers: [OwnLessonsController],
  providers: [OwnLessons],
})
export class OwnModule {}
