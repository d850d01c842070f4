import { cents, instant, like, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const PAYMENT_STATUSES = ['pending', 'succeeded', 'refunded', 'failed', 'disputed', 'canceled'] as const;

export const paymentView = new View('Payment', {
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
});
