import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { INVOICE_WRITES } from './invoices.controller.js';
import { INVOICE, INVOICES } from './invoices.queries.js';

@Module({
  imports: [HttpModule, BillingModule],
  controllers: [listController(INVOICES), recordController(INVOICE), ...INVOICE_WRITES],
})
export class InvoicesModule {}
