import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { CLAIM, Database } from '@app/database';
import { Refused } from '@app/rules';

type State = (typeof CLAIM.values)[number];

/** What is done with a claim. */
export type ClaimAction = (typeof CLAIM.actions)[number];

/** What tutors claim. */
export type ClaimKind = 'mileage' | 'expense';

/** Decides what tutors claim: trips and expenses. */
@Injectable()
export class Claims {
  constructor(private readonly db: Database) {}

  /**
   * @param approvedCents of an approved expense, at most what was claimed; null for all of it
   * @returns false if it had been done before
   * @throws Refused in a state in which it is not possible, also to approve it again with another amount
   */
  decide(
    organizationId: string,
    kind: ClaimKind,
    action: ClaimAction,
    id: string,
    approvedCents: number | null = null,
  ): Promise<boolean> {
    return kind === 'mileage'
      ? this.decideTrip(organizationId, action, id)
      : this.decideExpense(organizationId, action, id, approvedCents);
  }

  private async decideTrip(organizationId: string, action: ClaimAction, id: string): Promise<boolean> {
    const [trip] = await this.db.query<{ status: State }>(sql`
      SELECT status FROM mileage_trips WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`);
    if (!trip) throw Refused.notFound();
    const next = CLAIM.next(action, trip.status);
    if (next === null) return false;
    await this.db.query(sql`
      UPDATE mileage_trips SET status = ${next}, approved_at = CASE ${next} WHEN 'approved' THEN now() ELSE approved_at END
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }

  private async decideExpense(
    organizationId: string,
    action: ClaimAction,
    id: string,
    approvedCents: number | null,
  ): Promise<boolean> {
    const [claim] = await this.db.query<{ status: State; claimed: number; approved: number | null }>(sql`
      SELECT status, amount_cents::float8 AS claimed, approved_amount_cents::float8 AS approved FROM expense_claims
      WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`);
    if (!claim) throw Refused.notFound();
    const next = CLAIM.next(action, claim.status);
    if (next === null) {
      const same = approvedCents === null || approvedCents === claim.approved;
      if (!same) throw Refused.invalidState(claim.status, CLAIM.allowed(action));
      return false;
    }
    if (approvedCents !== null && approvedCents > claim.claimed) {
      throw Refused.invalid('Must not be more than what was claimed.', 'approved_amount_cents');
    }
    await this.db.query(sql`
      UPDATE expense_claims SET status = ${next},
        approved_at = CASE ${next} WHEN 'approved' THEN now() ELSE approved_at END,
        approved_amount_cents = CASE ${next} WHEN 'approved' THEN ${approvedCents ?? claim.claimed}::bigint
          ELSE approved_amount_cents END
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }
}
