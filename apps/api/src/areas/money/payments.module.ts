import { Module } from '@nestjs/common';
import {
  cents, equals, field, HttpModule, instant, like, type List, listController, nullable, oneOf, rangeQuery, since,
  Source, text, until, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const PAYMENT_STATUSES = ['pending', 'succeeded', 'refunded', 'failed', 'disputed', 'canceled'] as const;

const Between = rangeQuery({
  from: 'Created at or after this ISO 8601 date or date-time.',
  to: 'Created at or before this ISO 8601 date or date-time; a date includes the whole day.',
});

export class ListPayments extends Between {
  @field.QueryUuid({ description: 'Only payments for this student.' })
  student_id?: string;

  @field.QueryUuid({ description: 'Only payments for sessions with this tutor (user id).' })
  tutor_id?: string;

  @field.QueryEnum(PAYMENT_STATUSES, { description: 'Only payments in this state.' })
  status?: string;
}

export const PAYMENTS: List<ListPayments> = {
  id: 'list_payments',
  path: 'v1/payments',
  query: ListPayments,
  summary: 'Lists payments, newest first',
  view: new View('Payment', {
    id: uuid('p.id'),
    session_id: nullable(uuid('p.session_id')),
    student_id: nullable(uuid('p.student_id')),
    tutor_id: nullable(uuid('p.tutor_id')),
    amount_cents: nullable(cents('p.amount_cents')),
    refund_amount_cents: like(nullable(cents('p.refund_amount_cents')), null),
    currency: nullable(text('p.currency', 'AUD')),
    payment_type: nullable(oneOf('p.payment_type', ['card', 'bank_transfer', 'cash', 'external'])),
    status: like(nullable(oneOf('p.status', PAYMENT_STATUSES)), 'succeeded'),
    stripe_payment_intent_id: nullable(text('p.stripe_payment_intent_id', 'pi_3NqLx2Eo')),
    created_at: nullable(instant('p.created_at')),
  }),
  source: new Source('payments', 'p'),
  select: ({ student_id, tutor_id, status, from, to }) => ({
    filters: [
      equals('student_id', student_id),
      equals('tutor_id', tutor_id),
      equals('status', status),
      since('created_at', from),
      until('created_at', to),
    ],
  }),
};

@Module({ imports: [HttpModule], controllers: [listController(PAYMENTS)] })
export class PaymentsModule {}
