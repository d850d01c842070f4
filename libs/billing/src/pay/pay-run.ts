import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { behind, Database, IS_STAFF, type Position, type Tenant } from '@app/database';
import { Refused } from '@app/rules';
import type { EarningsPeriod } from './earnings.js';
import { Payouts } from './payouts.js';

/** A month, or another time with both its ends. */
export type PayPeriod = { [Bound in keyof EarningsPeriod]: NonNullable<EarningsPeriod[Bound]> };

/** What a tutor is due at the end of a period, in cents. */
export interface Due {
  id: string;
  /** In the period. */
  sessions: number;
  earned: number;
  adjusted: number;
  /** What was earned until its end, less what was paid out for it, whenever. Negative if that was too much. */
  due: number;
  created_at: Date;
}

/** Pays tutors what they are due. */
@Injectable()
export class PayRun {
  constructor(
    private readonly db: Database,
    private readonly payouts: Payouts,
  ) {}

  /** Members of staff who are due something, the newest first, also those who have left. @param tutorId only this one, whatever they are due */
  async list(
    tenant: Tenant,
    period: PayPeriod,
    after: Position | null,
    most: number,
    tutorId: string | null = null,
  ): Promise<Due[]> {
    const only = tutorId === null ? sql`AND d.due <> 0` : sql`AND m.user_id = ${tutorId}`;
    const [rows] = await this.db.read<[Due]>(
      tenant,
      sql`${dueOf(tenant.organizationId, period, only)} ${behind(after, 'm.created_at', 'm.user_id')}
        ORDER BY m.created_at DESC, m.user_id DESC LIMIT ${most}`,
    );
    return rows;
  }

  /**
   * Records that a tutor was paid what they are due, in the ambient transaction.
   *
   * @param seenCents what somebody has agreed to pay @returns the payout's id
   * @throws Refused if they are due something else by now: of two runs at once, the second sees what the first has paid
   */
  async pay(organizationId: string, tutorId: string, period: PayPeriod, seenCents: number): Promise<string> {
    await this.db.lock(`pay of ${tutorId} in ${organizationId}`);
    const [found] = await this.db.query<Due>(dueOf(organizationId, period, sql`AND m.user_id = ${tutorId}`));
    if (!found) throw Refused.notFound();
    if (found.due !== seenCents)
      throw Refused.invalid('What is due has changed since: look at it again.', 'amount_cents');
    return this.payouts.record(organizationId, {
      tutorId,
      amountCents: seenCents,
      sessionId: null,
      paidAt: new Date(),
    });
  }
}

/** @param which more about the member `m` and what they are due, `d` */
const dueOf = (organizationId: string, { since, until, sinceDay, untilDay }: PayPeriod, which: Sql): Sql => {
  const [from, to] = [since.toISOString(), until.toISOString()];
  return sql`
    SELECT m.user_id AS id, m.created_at, d.sessions, d.earned::float8 AS earned, d.adjusted::float8 AS adjusted, d.due::float8 AS due
    FROM members m CROSS JOIN LATERAL (
      SELECT s.sessions, s.earned, a.adjusted, s.cents + a.cents - p.cents AS due
      FROM (SELECT count(*) FILTER (WHERE starts_at >= ${from})::integer AS sessions,
          coalesce(sum(tutor_pay_cents) FILTER (WHERE starts_at >= ${from}), 0) AS earned, coalesce(sum(tutor_pay_cents), 0) AS cents
        FROM sessions WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND status = 'completed' AND starts_at <= ${to}) s,
      (SELECT coalesce(sum(amount_cents) FILTER (WHERE period_start >= ${sinceDay}::date), 0) AS adjusted, coalesce(sum(amount_cents), 0) AS cents
        FROM adjustments WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND NOT voided AND period_start <= ${untilDay}::date) a,
      -- A payout of a session that is later than the period is none for it.
      (SELECT coalesce(sum(amount_cents), 0) AS cents FROM payouts
        WHERE organization_id = ${organizationId} AND tutor_id = m.user_id AND NOT taken_back AND (session_id IS NULL OR counts_at <= ${to})) p) d
    WHERE m.organization_id = ${organizationId} AND m.${IS_STAFF} ${which}`;
};
