import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { CLAIM, Database, transition } from '@app/database';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused } from '@app/rules';
import { tripCostOf } from '../amounts.js';

interface Claimed {
  status: (typeof CLAIM.values)[number];
  /** Null for a trip without a rate and an amount. */
  claimed: number | null;
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

/** Writes down what tutors claim. */
@Injectable()
export class LoggedClaims extends Rows {
  /** @throws Refused like Rows, and for a session that is another tutor's or has not begun */
  override async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    const id = await super.add(organizationId, kind, values);
    await this.requireOwnSession(organizationId, kind, id, values);
    return id;
  }

  /** @throws Refused like {@link add}, if the tutor or the session changes */
  override async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    const changed = await super.change(organizationId, kind, id, values);
    if (changed) await this.requireOwnSession(organizationId, kind, id, values);
    return changed;
  }

  /** Deletes a claim that nobody has decided, for whoever made it. @throws Refused for one of others, and one that was decided */
  async withdraw(organizationId: string, kind: RowTable, tutorId: string, id: string): Promise<void> {
    const [own] = await this.db.query(sql`
      SELECT FROM ${raw(kind.table)} WHERE organization_id = ${organizationId} AND id = ${id} AND tutor_id = ${tutorId}`);
    if (!own) throw Refused.notFound();
    await this.remove(organizationId, kind, id);
  }

  private async requireOwnSession(organizationId: string, { table }: RowTable, id: string, given: Values) {
    const { session_id: session, tutor_id: tutor } = given;
    if (!session && !tutor) return;
    const [found] = await this.db.query<{ own: boolean; begun: boolean }>(sql`
      SELECT s.tutor_id IS NOT DISTINCT FROM c.tutor_id AS own, s.starts_at <= now() AS begun FROM ${raw(table)} c
      JOIN sessions s ON s.organization_id = c.organization_id AND s.id = c.session_id
      WHERE c.organization_id = ${organizationId} AND c.id = ${id}`);
    if (found?.own === false)
      throw Refused.invalid('Must be a session of this tutor.', session ? 'session_id' : 'tutor_id');
    if (session && found?.begun === false) throw Refused.invalid('Must be a session that has begun.', 'session_id');
  }
}

/** Decides what tutors claim: trips and expenses. */
@Injectable()
export class Claims {
  constructor(private readonly db: Database) {}

  /**
   * @param approvedCents of an approved expense, at most what was claimed; null for all of it
   * @returns false if it had been done before
   * @throws Refused in a state in which it is not possible, also to approve it again with another amount; without an amount
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
      return transition(this.db, 'mileage_trips', CLAIM, {
        ...done,
        reads: sql`amount_cents::float8 AS claimed`,
        set(next, { status, claimed }: Pick<Claimed, 'status' | 'claimed'>) {
          if (next !== null && action !== 'reject' && claimed === null) {
            const told = 'The trip has no amount yet. Give it a rate or an amount first.';
            throw Refused.invalidState(status, CLAIM.allowed(action), told);
          }
          return approvedAt(action);
        },
      });
    }
    return transition(this.db, 'expense_claims', CLAIM, {
      ...done,
      reads: sql`amount_cents::float8 AS claimed, approved_amount_cents::float8 AS approved`,
      set(next, { status, claimed, approved }: Claimed & { claimed: number }) {
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
