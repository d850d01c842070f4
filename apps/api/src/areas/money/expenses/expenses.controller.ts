import { Controller } from '@nestjs/common';
import { type Caller, CurrentCaller, PathId, ValidBody } from '../../../http/kit.js';
import { ClaimDecisions, decisions } from '../claims.js';
import { ApproveExpense } from './expenses.dto.js';
import { EXPENSES } from './expenses.queries.js';

const Decision = decisions('expense', { claim: 'an expense', id: 'claim_id', view: EXPENSES.view });

@Controller('v1/expenses')
export class ExpensesController {
  constructor(private readonly claims: ClaimDecisions) {}

  @Decision('approve', {
    description: 'Only a `logged` one. Again: unchanged, unless with another amount, which is a 409.',
    example: { approved_amount_cents: 1000 },
  })
  approve(
    @CurrentCaller() caller: Caller,
    @PathId('claim_id') id: string,
    @ValidBody(ApproveExpense) body: ApproveExpense,
  ) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'approve', id, body.approved_amount_cents);
  }

  @Decision('reject')
  reject(@CurrentCaller() caller: Caller, @PathId('claim_id') id: string) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'reject', id);
  }

  @Decision('reimburse')
  reimburse(@CurrentCaller() caller: Caller, @PathId('claim_id') id: string) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'reimburse', id);
  }
}
