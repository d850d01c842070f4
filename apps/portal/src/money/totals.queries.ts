import sql, { raw, type Sql } from 'sql-template-tag';
import { sumOf } from '@app/database';
import { received } from './books.queries.js';
import { isOverdue, isReady } from './invoices.queries.js';

/** What families owe and have paid. Counts and sums (cents) end at the most rows that are counted, but for what is owed. */
export type TotalsRow = Record<
  'owed' | 'unpaid' | 'overdue' | 'overdue_cents' | 'ready' | 'ready_cents' | 'payments' | 'received_cents',
  number
>;

/** Payments that brought money, since the first day of a month. What was received then was not recorded before. */
export const receivedSince = (
  organizationId: string,
  { since, sinceDay }: { since: Date; sinceDay: string },
): Sql => sql`
  created_at >= ${since.toISOString()} AND status IN ('succeeded', 'refunded') AND ${received(organizationId)} >= ${sinceDay}::date`;

/** @param most how many rows are counted of each kind */
export function totals(organizationId: string, month: { since: Date; sinceDay: string }, most: number): Sql {
  const rows = (columns: Sql, table: Sql, which: Sql) =>
    sql`(SELECT ${columns} FROM ${table} WHERE organization_id = ${organizationId} AND ${which} LIMIT ${most})`;
  const left = sql`amount_due_cents - amount_paid_cents AS cents`;
  const kept = sql`amount_cents - coalesce(refund_amount_cents, 0) AS cents`;
  return sql`
    SELECT ${raw(sumOf('o.id', 'invoices:owed'))}::float8 AS owed, u.n AS unpaid, l.n AS overdue, l.cents AS overdue_cents,
      d.n AS ready, d.cents AS ready_cents, p.n AS payments, p.cents AS received_cents
    FROM organizations o
    CROSS JOIN LATERAL (SELECT count(*)::integer AS n FROM ${rows(sql`id`, sql`invoices`, sql`status = 'open'`)} r) u
    CROSS JOIN LATERAL (SELECT ${SUM} FROM ${rows(left, sql`invoices`, isOverdue(organizationId))} r) l
    CROSS JOIN LATERAL (SELECT ${SUM} FROM ${rows(left, sql`invoices`, isReady)} r) d
    CROSS JOIN LATERAL (SELECT ${SUM} FROM ${rows(kept, sql`payments`, receivedSince(organizationId, month))} r) p
    WHERE o.id = ${organizationId}`;
}

const SUM = sql`count(*)::integer AS n, coalesce(sum(cents), 0)::float8 AS cents`;
