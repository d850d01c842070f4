import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PayModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { PayoutsController } from './payouts.controller.js';
import { PAYOUT, PAYOUTS } from './payouts.queries.js';
import { PayoutsService } from './payouts.service.js';

@Module({
  imports: [HttpModule, AccountsModule, PayModule],
  controllers: [listController(PAYOUTS), recordController(PAYOUT), PayoutsController],
  providers: [PayoutsService],
})
export class PayoutsModule {}
