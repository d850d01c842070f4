import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { BillingModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { PaymentsController } from './payments.controller.js';
import { PAYMENT, PAYMENTS } from './payments.queries.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [HttpModule, AccountsModule, BillingModule],
  controllers: [listController(PAYMENTS), recordController(PAYMENT), PaymentsController],
  providers: [PaymentsService],
})
export class PaymentsModule {}
