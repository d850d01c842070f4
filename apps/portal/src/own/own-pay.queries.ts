import sql, { type Sql } from 'sql-template-tag';
import { behind, type Position } from '@app/database';
import type { PayPeriod } from '@app/billing';

/** A completed lesson and the tutor's pay for it. Tutors see no prices. */
export interface HeldRow {
  id: string;
  startsAt: Date;
  minutes: number;
  what: string | null;
  pay: number | null;
}

export interface PaidRow {
  paidAt: Date;
  amount: number;
}

export interface AdjustedRow {
  day: string;
  amount: number;
  note: string | null;
}

/** What the tutor's claims of a month come to, in one state. */
export interface ClaimedRow {
  status: 'logged' | 'approved' | 'rejected' | 'reimbursed';
  claims: number;
  amount: number;
}

const within = ({ since, until }: PayPeriod): Sql => sql`BETWEEN ${since.toISOString()} AND ${until.toISOString()}`;

/** Newest first. */
export const heldBy = (
  organizationId: string,
  tutorId: string,
  period: PayPeriod,
  after: Position | null,
  most: number,
): Sql => sql`
  SELECT s.id, s.starts_at AS "startsAt", (extract(epoch FROM s.ends_at - s.starts_at) / 60)::float8 AS minutes,
    coalesce(nullif(trim(s.title), ''), j.name) AS what, s.tutor_pay_cents::float8 AS pay
  FROM sessions s LEFT JOIN subjects j ON j.organization_id = s.organization_id AND j.id = s.subject_id
  WHERE s.organization_id = ${organizationId} AND s.tutor_id = ${tutorId} AND s.status = 'completed'
    AND s.starts_at ${within(period)} ${behind(after, 's.starts_at', 's.id')} ORDER BY s.starts_at DESC, s.id DESC LIMIT ${most}`;

export const minutesOf = (organizationId: string, tutorId: string, period: PayPeriod): Sql => sql`
  SELECT coalesce(sum(extract(epoch FROM ends_at - starts_at) / 60), 0)::float8 AS minutes FROM sessions
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND status = 'completed' AND starts_at ${within(period)}`;

export const paidTo = (organizationId: string, tutorId: string, period: PayPeriod, most: number): Sql => sql`
  SELECT paid_at AS "paidAt", amount_cents::float8 AS amount FROM payouts
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND NOT taken_back AND counts_at ${within(period)}
  ORDER BY counts_at DESC, id DESC LIMIT ${most}`;

export const adjustedOf = (
  organizationId: string,
  tutorId: string,
  { sinceDay, untilDay }: PayPeriod,
  most: number,
): Sql => sql`
  SELECT to_char(period_start, 'YYYY-MM-DD') AS day, amount_cents::float8 AS amount, note FROM adjustments
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND NOT voided
    AND period_start BETWEEN ${sinceDay}::date AND ${untilDay}::date
  ORDER BY period_start DESC, id DESC LIMIT ${most}`;

/** An expense counts with what was approved of it; a trip without an amount counts with none. */
export const claimedBy = (organizationId: string, tutorId: string, { sinceDay, untilDay }: PayPeriod): Sql => sql`
  SELECT status, count(*)::integer AS claims, coalesce(sum(amount), 0)::float8 AS amount FROM (
    SELECT status, amount_cents AS amount, trip_date AS day FROM mileage_trips
    WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId}
    UNION ALL SELECT status, coalesce(approved_amount_cents, amount_cents), expense_date FROM expense_claims
    WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId}) c
  WHERE day BETWEEN ${sinceDay}::date AND ${untilDay}::date GROUP BY status`;
