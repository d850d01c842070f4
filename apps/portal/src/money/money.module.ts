import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalsService } from './approvals.service.js';
import { EarningsController } from './earnings.controller.js';

/** Money: what tutors claim and earn. */
@Module({
  imports: [PayModule],
  controllers: [ApprovalsController, EarningsController],
  providers: [ApprovalsService],
})
export class MoneyModule {}
