import sql, { type Sql } from 'sql-template-tag';
import { received } from './books.queries.js';
import { memberName } from './invoices.queries.js';
import type { eachMonth } from './months.js';

/** Lessons that were held, in a month or of a tutor or a subject. Amounts are cents. */
export interface TaughtRow {
  /** The place of the month, or the id of the tutor or subject; null for lessons without a subject. */
  id: string | null;
  name: string | null;
  lessons: number;
  minutes: number;
  billed: number;
  pay: number;
}

/** What was invoiced or received in a month. */
export interface MonthSumRow {
  month: string;
  cents: number;
}

type Month = ReturnType<typeof eachMonth>[number];

/** What lessons are summed by. */
export type By = 'month' | 'tutor' | 'subject';

const zone = (organizationId: string): Sql => sql`(SELECT time_zone FROM organizations WHERE id = ${organizationId})`;

/** Lessons held from the first of these months to the last, most hours first; those by month in their order. */
export function taught(organizationId: string, by: By, months: readonly Month[], most: number): Sql {
  const [first, last] = [months[0]!, months.at(-1)!];
  const key = {
    month: sql`to_char(starts_at AT TIME ZONE z.zone, 'YYYY-MM')`,
    tutor: sql`tutor_id::text`,
    subject: sql`subject_id::text`,
  }[by];
  const name = {
    month: sql`t.id`,
    tutor: memberName(organizationId, sql`t.id::uuid`),
    subject: sql`(SELECT name FROM subjects WHERE organization_id = ${organizationId} AND id = t.id::uuid)`,
  }[by];
  return sql`
    SELECT t.*, ${name} AS name FROM (
      SELECT ${key} AS id, count(*)::integer AS lessons, sum(duration_minutes)::integer AS minutes,
        coalesce(sum(amount_owed_cents), 0)::float8 AS billed, coalesce(sum(tutor_pay_cents), 0)::float8 AS pay
      FROM sessions, (SELECT ${zone(organizationId)} AS zone) z
      WHERE organization_id = ${organizationId} AND status = 'completed'
        AND starts_at BETWEEN ${first.since.toISOString()} AND ${last.until.toISOString()}
      GROUP BY 1 ORDER BY ${by === 'month' ? sql`1` : sql`minutes DESC, id`} LIMIT ${most}) t
    ORDER BY ${by === 'month' ? sql`t.id` : sql`t.minutes DESC, t.id`}`;
}

/** What was issued in each month, without what is void. */
export const invoicedByMonth = (organizationId: string, months: readonly Month[]): Sql => sql`
  SELECT to_char(coalesce(sent_at, created_at) AT TIME ZONE ${zone(organizationId)}, 'YYYY-MM') AS month, sum(amount_due_cents)::float8 AS cents
  FROM invoices WHERE organization_id = ${organizationId} AND status <> 'draft' AND status <> 'void'
    AND coalesce(sent_at, created_at) BETWEEN ${months[0]!.since.toISOString()} AND ${months.at(-1)!.until.toISOString()}
  GROUP BY 1`;

/** What was received in each month, after refunds. What was received then was not recorded before. */
export const receivedByMonth = (organizationId: string, months: readonly Month[]): Sql => sql`
  SELECT to_char(${received(organizationId)}, 'YYYY-MM') AS month, sum(amount_cents - coalesce(refund_amount_cents, 0))::float8 AS cents
  FROM payments WHERE organization_id = ${organizationId} AND created_at >= ${months[0]!.since.toISOString()}
    AND status IN ('succeeded', 'refunded') AND ${received(organizationId)} BETWEEN ${months[0]!.sinceDay}::date AND ${months.at(-1)!.untilDay}::date
  GROUP BY 1`;
