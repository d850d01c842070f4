import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { PayoutsController } from './payouts.controller.js';
import { PAYOUT, PAYOUTS } from './payouts.queries.js';
import { PayoutsService } from './payouts.service.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(PAYOUTS), recordController(PAYOUT), PayoutsController],
  providers: [PayoutsService],
})
export class PayoutsModule {}
