import { type ClaimAction, EXPENSE_CLAIMS, LoggedClaims } from '@app/billing';
import { listController, rows, writeController } from '../../../http/kit.js';
import { CLAIMED, DAY, decision, NOTES } from '../claims.js';
import { ApproveExpense } from './expenses.dto.js';
import { EXPENSES } from './expenses.queries.js';

const decided = (action: ClaimAction) =>
  writeController({
    ...decision('an expense', action),
    id: `${action}_expense`,
    route: `POST /v1/expenses/:claim_id/${action}`,
    answers: EXPENSES,
    versions: EXPENSES,
    run: ({ organizationId, ids }, claims) => claims.decide(organizationId, 'expense', action, ids.claim_id),
  });

export const EXPENSES_CONTROLLERS = [
  listController(EXPENSES),
  ...rows({
    path: 'expenses/:claim_id',
    noun: 'expense',
    kind: EXPENSE_CLAIMS,
    rule: LoggedClaims,
    scope: 'payroll:write',
    shown: EXPENSES,
    fields: {
      ...CLAIMED,
      expense_date: DAY,
      category: { nullable: true },
      vendor: { nullable: true },
      amount_cents: { required: true },
      receipt_photo_url: { nullable: true },
      receipt_file_id: {
        nullable: true,
        description: 'An uploaded file, instead of `receipt_photo_url`, which then leads to it.',
      },
    },
    examples: {
      create: {
        tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        expense_date: '2026-05-01',
        category: 'parking',
        vendor: 'City parking',
        amount_cents: 1250,
      },
      change: { amount_cents: 1350 },
    },
    notes: NOTES,
  }),
  writeController({
    ...decision('an expense', 'approve'),
    id: 'approve_expense',
    route: 'POST /v1/expenses/:claim_id/approve',
    description: 'Only a `logged` one. Again: unchanged, unless with another amount, which is a 409.',
    example: { approved_amount_cents: 1000 },
    body: ApproveExpense,
    answers: EXPENSES,
    versions: EXPENSES,
    run: ({ organizationId, ids, body }, claims) =>
      claims.decide(organizationId, 'expense', 'approve', ids.claim_id, body.approved_amount_cents),
  }),
  decided('reject'),
  decided('reimburse'),
];
