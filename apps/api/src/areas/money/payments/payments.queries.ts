import { VALUES } from '@app/database';
import {
  between, byId, byValue, cents, day, instant, json, like, list, kinds, nullable, objectOf, oneOf, parameter, type
  RecordDeclaration, Source, text, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const APPLIED = `(SELECT coalesce(json_agg(json_build_object('invoice_id', a.invoice_id, 'amount_cents', a.cents) ORDER BY a.first), '[]')
  FROM (SELECT invoice_id, sum(amount_cents)::bigint AS cents, min(id::text) AS first FROM payment_allocations
    WHERE organization_id = p.organization_id AND payment_id = p.id GROUP BY invoice_id) a)`;

export const PAYMENTS = list({
  id: 'list_payments',
  path: 'v1/payments',
  summary: 'Lists payments, newest first',
  view: new View('Payment', {
    id: uuid('p.id'),
    session_id: nullable(uuid('p.session_id')),
    student_id: nullable(uuid('p.student_id')),
    tutor_id: nullable(uuid('p.tutor_id')),
    amount_cents: nullable(cents('p.amount_cents')),
    refund_amount_cents: like(nullable(cents('p.refund_amount_cents')), null),
    currency: nullable(text('p.currency', 'AUD')),
    payment_type: nullable(oneOf('p.payment_type', VALUES.payments.payment_type)),
    status: like(nullable(oneOf('p.status', VALUES.payments.status)), 'succeeded'),
    stripe_payment_intent_id: nullable(text('p.stripe_payment_intent_id', 'pi_3NqLx2Eo')),
    created_at: nullable(instant('p.created_at')),
    received_on: nullable(day('p.received_on')),
    parent_id: like(nullable(uuid('p.parent_id')), null),
    reference: nullable(text('p.reference', 'TERM2-NGATA')),
    credit_cents: like(nullable(cents('p.credit_cents')), 0),
    allocations: json(APPLIED, {
      type: 'array',
      items: objectOf({ invoice_id: UUID, amount_cents: { type: 'integer', examples: [12000] } }),
    }),
    voided_at: like(nullable(instant('p.taken_back_at')), null),
    void_reason: like(nullable(text('p.void_reason', 'Typed one zero too many')), null),
  }),
  source: new Source('payments', 'p'),
  parameters: [
    byId('student_id', 'Only payments for this student.'),
    byId('tutor_id', 'Only payments for sessions with this tutor (user id).'),
    byValue('status', VALUES.payments.status, 'Only payments in this state.'),
    parameter('reference', kinds.text({ min: 1, max: 200 }), 'Only payments with exactly this reference.', {
      column: 'reference',
      comparison: 'equals',
    }),
    ...between('created_at', {
      from: 'Created at or after this ISO 8601 date or date-time.',
      to: 'Created at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

export const PAYMENT: RecordDeclaration = {
  id: 'get_payment',
  path: 'v1/payments/:payment_id',
  summary: 'Returns one payment',
  view: PAYMENTS.view,
  source: PAYMENTS.source,
};
