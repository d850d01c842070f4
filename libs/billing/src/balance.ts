import sql, { type Sql } from 'sql-template-tag';

/**
 * What was invoiced and paid, and what is left of payments, as SQL to join: `i.invoiced`, `i.paid`, `i.outstanding`, `i.open`
 * (how many invoices) and `k.credit`.
 *
 * @param students an array of their ids @param paid whose payments `c` count
 */
export const sumsOf = (students: Sql, organizationId: Sql, paid: Sql): Sql => sql`
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(i.amount_due_cents), 0)::bigint AS invoiced, coalesce(sum(i.amount_paid_cents), 0)::bigint AS paid,
      coalesce(sum(i.amount_due_cents - i.amount_paid_cents) FILTER (WHERE i.status = 'open'), 0)::bigint AS outstanding,
      count(*) FILTER (WHERE i.status = 'open') AS open
    FROM invoices i WHERE i.organization_id = ${organizationId} AND i.student_id = ANY (${students})
      AND i.status IN ('open', 'paid')) i
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.credit_cents), 0)::bigint AS credit FROM payments c
    WHERE c.organization_id = ${organizationId} AND c.credit_cents > 0 AND ${paid}) k`;
