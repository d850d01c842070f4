import { Module } from '@nestjs/common';
import { BillingModule, PayModule } from '@app/billing';
import { MessagingModule } from '@app/messaging';
import { PapersModule } from '@app/papers';
import { RowsModule } from '@app/rows';
import { SchedulingModule } from '@app/scheduling';
import { StorageModule } from '@app/storage';
import { TeachingModule } from '@app/teaching';
import { PaperLinks } from '../money/paper-links.js';
import { HoursForm } from '../people/hours.form.js';
import { OwnClaimsController } from './own-claims.controller.js';
import { OwnHoursController } from './own-hours.controller.js';
import { OwnInvoicesController } from './own-invoices.controller.js';
import { OwnLearningController } from './own-learning.controller.js';
import { OwnLessonsController } from './own-lessons.controller.js';
import { OwnMessages } from './own-messages.js';
import { OwnLessons } from './own-lessons.service.js';
import { OwnPayController } from './own-pay.controller.js';
import { Receipts } from './receipts.js';
import { WriteController } from './write.controller.js';

/** Somebody's own pages in an organization: of tutors, parents and students. */
@Module({
  imports: [
    ...[BillingModule, MessagingModule, PapersModule, PayModule],
    ...[RowsModule, SchedulingModule, StorageModule, TeachingModule],
  ],
  controllers: [
    ...[OwnClaimsController, OwnHoursController, OwnInvoicesController, OwnLearningController],
    ...[OwnLessonsController, OwnPayController, WriteController],
  ],
  providers: [HoursForm, OwnLessons, OwnMessages, PaperLinks, Receipts],
})
export class OwnModule {}
