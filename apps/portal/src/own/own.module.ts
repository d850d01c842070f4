import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { MessagingModule } from '@app/messaging';
import { PapersModule } from '@app/papers';
import { SchedulingModule } from '@app/scheduling';
import { PaperLinks } from '../money/paper-links.js';
import { OwnInvoicesController } from './own-invoices.controller.js';
import { OwnLearningController } from './own-learning.controller.js';
import { OwnLessonsController } from './own-lessons.controller.js';
import { OwnLessons } from './own-lessons.service.js';
import { WriteController } from './write.controller.js';

/** Somebody's own pages in an organization: of tutors, parents and students. */
@Module({
  imports: [BillingModule, MessagingModule, PapersModule, SchedulingModule],
  controllers: [OwnInvoicesController, OwnLearningController, OwnLessonsController, WriteController],
  providers: [OwnLessons, PaperLinks],
})
export class OwnModule {}
