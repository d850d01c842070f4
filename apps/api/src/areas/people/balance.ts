import { cents, integer, like } from '../../http/kit.js';

/** What was invoiced and paid, and what is left of payments: the columns of `sumsOf`. */
export const SUMS = {
  total_invoiced_cents: like(cents('i.invoiced'), 34000),
  total_paid_cents: like(cents('i.paid'), 25500),
  outstanding_cents: like(cents('i.outstanding'), 8500),
  open_invoices_count: like(integer('i.open', { minimum: 0 }), 1),
  credit_cents: like(cents('k.credit'), 0),
};
