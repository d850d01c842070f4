import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { CLAIM, Database, transition } from '@app/database';
import type { RowTable, Values } from '@app/rows';
import { Refused } from '@app/rules';
import { tripCostOf } from '../amounts.js';

interface Claimed {
  status: (typeof CLAIM.values)[number];
  claimed: number;
  approved: number | null;
}

/** What is done with a claim. */
export type ClaimAction = (typeof CLAIM.actions)[number];

/** What tutors claim. */
export type ClaimKind = 'mileage' | 'expense';

/** What trips and expenses have in common: who has left is still owed what they spent. */
const CLAIMED = {
  references: { tutor_id: { member: 'teach', archived: true }, session_id: { table: 'sessions' } },
  states: ['logged'],
} satisfies Partial<RowTable>;

/** Trips: the amount follows from distance and rate, unless it is given. */
export const MILEAGE_TRIPS: RowTable = {
  table: 'mileage_trips',
  ...CLAIMED,
  past: ['trip_date'],
  derived: {
    from: ['distance_km', 'rate_cents'],
    values(given, stored) {
      const named = ['distance_km', 'rate_cents', 'amount_cents'].some((name) => given[name] !== undefined);
      const { distance_km: kilometers, rate_cents: rate }: Values = { ...stored, ...given };
      if (!named || typeof given.amount_cents === 'number' || (rate ?? null) === null) return {};
      const meters = Math.round(Number(kilometers) * 1_000);
      return { amount_cents: Number(tripCostOf(BigInt(Number(rate)), BigInt(meters))) };
    },
  },
};

/** Expenses: a receipt is an address elsewhere, or a file that was uploaded. */
export const EXPENSE_CLAIMS: RowTable = {
  table: 'expense_claims',
  ...CLAIMED,
  references: { ...CLAIMED.references, receipt_file_id: { table: 'files', where: 'upload_id IS NOT NULL' } },
  past: ['expense_date'],
};

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
