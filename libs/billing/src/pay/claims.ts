import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { CLAIM, Database, transition } from '@app/database';
import { Refused } from '@app/rules';

interface Claimed {
  status: (typeof CLAIM.values)[number];
  claimed: number;
  approved: number | null;
}

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
    const done = { organizationId, id, action };
    if (kind === 'mileage') {
      return transition(this.db, 'mileage_trips', CLAIM, { ...done, set: () => approvedAt(action) });
    }
    return transition(this.db, 'expense_claims', CLAIM, {
      ...done,
      reads: sql`amount_cents::float8 AS claimed, approved_amount_cents::float8 AS approved`,
      set(next, { status, claimed, approved }: Claimed) {
        if (next === null && approvedCents !== null && approvedCents !== approved) {
          throw Refused.invalidState(status, CLAIM.allowed(action));
        }
        if (next !== null && approvedCents !== null && approvedCents > claimed) {
          throw Refused.invalid('Must not be more than what was claimed.', 'approved_amount_cents');
        }
        const amount = sql`approved_amount_cents = ${approvedCents ?? claimed}::bigint`;
        return [...approvedAt(action), ...(action === 'approve' ? [amount] : [])];
      },
    });
  }
}

const approvedAt = (action: ClaimAction) => (action === 'approve' ? [sql`approved_at = now()`] : []);
