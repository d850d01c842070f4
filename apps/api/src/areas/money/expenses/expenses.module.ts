import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { ClaimDecisions } from '../claims.js';
import { ExpensesController } from './expenses.controller.js';
import { EXPENSES } from './expenses.queries.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(EXPENSES), ExpensesController],
  providers: [ClaimDecisions],
})
export class ExpensesModule {}
