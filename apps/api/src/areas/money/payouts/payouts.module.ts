import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PayModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { EARNINGS, PAYOUT_WRITES } from './payouts.controller.js';
import { PAYOUT, PAYOUTS } from './payouts.queries.js';

@Module({
  imports: [HttpModule, AccountsModule, PayModule],
  controllers: [listController(PAYOUTS), recordController(PAYOUT), EARNINGS, ...PAYOUT_WRITES],
})
export class PayoutsModule {}
