import { VALUES } from '@app/database';
import {
  betweenDays, byId, byValue, cents, day, instant, like, list, nullable, oneOf, Source, text, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { status, category } = VALUES.expense_claims;

export const EXPENSES = list({
  id: 'list_expenses',
  path: 'v1/expenses',
  summary: 'Lists the expenses that tutors claim, newest first',
  view: new View('ExpenseClaim', {
    id: uuid('e.id'),
    tutor_id: nullable(uuid('e.tutor_id')),
    expense_date: nullable(day('e.expense_date')),
    category: nullable(oneOf('e.category', category)),
    vendor: nullable(text('e.vendor', 'City parking')),
    amount_cents: like(nullable(cents('e.amount_cents')), 1250),
    approved_amount_cents: like(nullable(cents('e.approved_amount_cents')), null),
    status: nullable(oneOf('e.status', status)),
    receipt_photo_url: nullable(
      text(
        `CASE WHEN e.receipt_file_id IS NULL THEN e.receipt_photo_url ELSE '/v1/files/' || e.receipt_file_id || '/content' END`,
        'https://files.example.com/receipts/42.jpg',
      ),
    ),
    receipt_file_id: like(nullable(uuid('e.receipt_file_id')), null),
    session_id: nullable(uuid('e.session_id')),
    approved_at: like(nullable(instant('e.approved_at')), null),
    created_at: nullable(instant('e.created_at')),
  }),
  source: new Source('expense_claims', 'e'),
  parameters: [
    byId('tutor_id', 'Only expenses of this tutor (user id).'),
    byValue('status', status, 'Only expenses in this state; `logged` ones wait for a decision.'),
    byValue('category', category, 'Only expenses of this category.'),
    ...betweenDays('expense_date', {
      from: 'Only expenses on or after this ISO 8601 date.',
      to: 'Only expenses on or before this ISO 8601 date.',
    }),
  ],
});
