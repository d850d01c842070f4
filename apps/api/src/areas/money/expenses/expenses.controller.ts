import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { ClaimDecisions } from '../claims.js';
import { ApproveExpense } from './expenses.dto.js';
import { EXPENSES } from './expenses.queries.js';

@Controller('v1/expenses')
export class ExpensesController {
  constructor(private readonly claims: ClaimDecisions) {}

  @Post(':claim_id/approve', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'approve_expense',
    summary: 'Approves an expense that a tutor claims',
    description: 'Only a `logged` one. Again: unchanged, unless with another amount, which is a 409.',
    answer: one(EXPENSES.view),
    example: { approved_amount_cents: 1000 },
    conflicts: ['invalid_state'],
  })
  approve(
    @CurrentCaller() caller: Caller,
    @PathId('claim_id') id: string,
    @ValidBody(ApproveExpense) body: ApproveExpense,
  ) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'approve', id, body.approved_amount_cents);
  }

  @Post(':claim_id/reject', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'reject_expense',
    summary: 'Rejects an expense that a tutor claims',
    description: 'Only a `logged` one. Again: unchanged.',
    answer: one(EXPENSES.view),
    conflicts: ['invalid_state'],
  })
  reject(@CurrentCaller() caller: Caller, @PathId('claim_id') id: string) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'reject', id);
  }

  @Post(':claim_id/reimburse', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'reimburse_expense',
    summary: 'Records that an expense was reimbursed',
    description: 'Only an `approved` one. The money itself moves elsewhere. Again: unchanged.',
    answer: one(EXPENSES.view),
    conflicts: ['invalid_state'],
  })
  reimburse(@CurrentCaller() caller: Caller, @PathId('claim_id') id: string) {
    return this.claims.decide(caller, EXPENSES, 'expense', 'reimburse', id);
  }
}
