import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { BillingModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { PAYMENT_WRITES } from './payments.controller.js';
import { PAYMENT, PAYMENTS } from './payments.queries.js';

@Module({
  imports: [HttpModule, AccountsModule, BillingModule],
  controllers: [listController(PAYMENTS), recordController(PAYMENT), ...PAYMENT_WRITES],
})
export class PaymentsModule {}
