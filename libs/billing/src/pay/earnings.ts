import { Injectable } from '@nestjs/common';
import sql, { empty } from 'sql-template-tag';
import { Database, IS_STAFF, type Tenant } from '@app/database';

/** A time, with the days of the organization's zone that lie in it. Null is no bound. */
export interface EarningsPeriod {
  /** The first instant, and the last. */
  since: Date | null;
  until: Date | null;
  sinceDay: string | null;
  untilDay: string | null;
}

/** What a tutor earned in a period, and was paid for it. */
export interface EarningsOf {
  tutorId: string;
  /** The place of the period among those that were asked for. */
  period: number;
  sessions: number;
  earnedCents: number;
  paidOutCents: number;
}

/** Sums up what tutors earned: completed sessions by their start, and adjustments by the start of their period. */
@Injectable()
export class Earnings {
  constructor(private readonly db: Database) {}

  /**
   * Of each member of staff and each period, also of those who have left.
   *
   * @param tutorId only theirs; nothing if they are not staff
   */
  async sums(tenant: Tenant, periods: readonly EarningsPeriod[], tutorId?: string): Promise<EarningsOf[]> {
    const { organizationId } = tenant;
    const bounds = periods.map(({ since, until, sinceDay, untilDay }, period) => ({
      period,
      since: since?.toISOString() ?? '-infinity',
      until: until?.toISOString() ?? 'infinity',
      since_day: sinceDay ?? '-infinity',
      until_day: untilDay ?? 'infinity',
    }));
    const only = tutorId === undefined ? empty : sql`AND m.user_id = ${tutorId}`;
    const [rows] = await this.db.read<[EarningsOf]>(
      tenant,
      // Sums stay below 2^53, which a double holds exactly.
      sql`
      SELECT m.user_id AS "tutorId", b.period, s.sessions,
        (s.cents + a.cents)::float8 AS "earnedCents", p.cents::float8 AS "paidOutCents"
      FROM members m
      CROSS JOIN json_to_recordset(${JSON.stringify(bounds)}::json)
        AS b (period integer, since timestamptz, until timestamptz, since_day date, until_day date)
      CROSS JOIN LATERAL (SELECT count(*)::integer AS sessions, coalesce(sum(tutor_pay_cents), 0) AS cents FROM sessions
        WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND status = 'completed'
          AND starts_at BETWEEN b.since AND b.until) s
      CROSS JOIN LATERAL (SELECT coalesce(sum(amount_cents), 0) AS cents FROM adjustments
        WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND NOT voided
          AND period_start BETWEEN b.since_day AND b.until_day) a
      CROSS JOIN LATERAL (SELECT coalesce(sum(amount_cents), 0) AS cents FROM payouts
        WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND NOT taken_back
          AND counts_at BETWEEN b.since AND b.until) p
      WHERE m.organization_id = ${organizationId} AND m.${IS_STAFF} ${only}
      ORDER BY b.period, m.created_at, m.user_id`,
    );
    return rows;
  }
}
