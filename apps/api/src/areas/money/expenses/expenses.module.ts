import { Module } from '@nestjs/common';
import { PayModule } from '@app/billing';
import { HttpModule, listController } from '../../../http/kit.js';
import { EXPENSE_WRITES } from './expenses.controller.js';
import { EXPENSES } from './expenses.queries.js';

@Module({
  imports: [HttpModule, PayModule],
  controllers: [listController(EXPENSES), ...EXPENSE_WRITES],
})
export class ExpensesModule {}
