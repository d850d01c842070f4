import { Module } from '@nestjs/common';
import { AccessModule } from '@app/access';
import { BillingModule, PayModule } from '@app/billing';
import { PapersModule } from '@app/papers';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalsService } from './approvals.service.js';
import { BooksController } from './books.controller.js';
import { DraftsController } from './drafts.controller.js';
import { EarningsController } from './earnings.controller.js';
import { InvoicesController } from './invoices.controller.js';
import { InvoicePages } from './invoice-pages.js';
import { IssuingController } from './issuing.controller.js';
import { Ledger } from './ledger.js';
import { LinesController } from './lines.controller.js';
import { MoneyListsController } from './money-lists.controller.js';
import { MoneyLists } from './money-lists.js';
import { PaperLinks } from './paper-links.js';
import { PayRunController } from './pay-run.controller.js';
import { PayRuns } from './pay-runs.js';
import { PaymentsController } from './payments.controller.js';
import { ReportsController } from './reports.controller.js';
import { Reports } from './reports.js';

/** Money: what families owe and pay, and what tutors claim and earn. */
@Module({
  imports: [AccessModule, BillingModule, PapersModule, PayModule],
  // The files come before the invoices and payments, for whose ids their names would be taken.
  controllers: [
    BooksController,
    MoneyListsController,
    InvoicesController,
    DraftsController,
    IssuingController,
    LinesController,
    PaymentsController,
    ApprovalsController,
    EarningsController,
    PayRunController,
    ReportsController,
  ],
  providers: [ApprovalsService, InvoicePages, Ledger, MoneyLists, PaperLinks, PayRuns, Reports],
})
export class MoneyModule {}
