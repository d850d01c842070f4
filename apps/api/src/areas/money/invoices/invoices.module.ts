import { Module } from '@nestjs/common';
import { BillingModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { InvoicesController } from './invoices.controller.js';
import { INVOICE, INVOICES } from './invoices.queries.js';
import { InvoicesService } from './invoices.service.js';

@Module({
  imports: [HttpModule, BillingModule],
  controllers: [listController(INVOICES), recordController(INVOICE), InvoicesController],
  providers: [InvoicesService],
})
export class InvoicesModule {}
