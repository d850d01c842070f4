import { Module } from '@nestjs/common';
import { PeopleModule } from '@app/people';
import { SchedulingModule } from '@app/scheduling';
import { Completion } from './completion.js';
import { Drafts } from './drafts.js';
import { InvoiceMails } from './invoice-mails.js';
import { Invoices } from './invoices.js';
import { Lessons } from './lessons.js';
import { Payments } from './payments.js';
import { RateTable } from './rate-table.js';
import { ReceiptMails } from './receipt-mails.js';
import { Settlement } from './settlement.js';
import { Snapshots } from './snapshots.js';

const RULES = [Completion, InvoiceMails, Invoices, Payments, RateTable, ReceiptMails];

@Module({
  imports: [PeopleModule, SchedulingModule],
  providers: [...RULES, Drafts, Lessons, Settlement, Snapshots],
  exports: RULES,
})
export class BillingModule {}
