import sql, { raw, type Sql } from 'sql-template-tag';
import { cents, integer, like } from '../../http/kit.js';

/** What was invoiced and paid, and what is left of payments: the columns of {@link sumsOf}. */
export const SUMS = {
  total_invoiced_cents: like(cents('i.invoiced'), 34000),
  total_paid_cents: like(cents('i.paid'), 25500),
  outstanding_cents: like(cents('i.outstanding'), 8500),
  open_invoices_count: like(integer('i.open', { minimum: 0 }), 1),
  credit_cents: like(cents('k.credit'), 0),
};

/** Sums over invoices and payments. @param students SQL for an array of their ids @param paid SQL for whose payments `c` count */
export const sumsOf = (students: string, organization: string, paid: string): Sql => sql`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(i.amount_due_cents), 0)::bigint AS invoiced, coalesce(sum(i.amount_paid_cents), 0)::bigint AS paid,
      coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.status = 'open'), 0)::bigint AS outstanding,
      count(*) FILTER (WHERE i.status = 'open') AS open
    FROM invoices i WHERE i.organization_id = ${raw(organization)} AND i.student_id = ANY (${raw(students)})
      AND i.status IN ('open', 'paid')) i
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.credit_cents), 0)::bigint AS credit FROM payments c
    WHERE c.organization_id = ${raw(organization)} AND c.credit_cents > 0 AND ${raw(paid)}) k`;
