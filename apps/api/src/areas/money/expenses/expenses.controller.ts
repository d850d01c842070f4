import type { ClaimAction } from '@app/billing';
import { listController, writeController } from '../../../http/kit.js';
import { decision } from '../claims.js';
import { ApproveExpense } from './expenses.dto.js';
import { EXPENSES } from './expenses.queries.js';

const decided = (action: ClaimAction) =>
  writeController({
    ...decision('an expense', action),
    id: `${action}_expense`,
    route: `POST /v1/expenses/:claim_id/${action}`,
    answers: EXPENSES,
    run: ({ organizationId, ids }, claims) => claims.decide(organizationId, 'expense', action, ids.claim_id),
  });

export const EXPENSES_CONTROLLERS = [
  listController(EXPENSES),
  writeController({
    ...decision('an expense', 'approve'),
    id: 'approve_expense',
    route: 'POST /v1/expenses/:claim_id/approve',
    description: 'Only a `logged` one. Again: unchanged, unless with another amount, which is a 409.',
    example: { approved_amount_cents: 1000 },
    body: ApproveExpense,
    answers: EXPENSES,
    run: ({ organizationId, ids, body }, claims) =>
      claims.decide(organizationId, 'expense', 'approve', ids.claim_id, body.approved_amount_cents),
  }),
  decided('reject'),
  decided('reimburse'),
];
