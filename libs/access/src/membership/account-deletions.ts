import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { ActingPerson, Actor } from '@app/audit';
import { Database } from '@app/database';
import { CredentialNotices, Operations } from '@app/people';
import { Refused } from '@app/rules';
import { MembershipNotices } from './membership-notices.js';
import { Offboarding } from './offboarding.js';
import type { Role } from './who-may.js';

/** Days in which it can be called off. */
const DAYS_TO_THINK = 7;

/** Organizations in a round; the next one takes the rest. */
const MOST_TIES = 100;

/** What ties somebody to an organization. */
export interface Tie {
  organization_id: string;
  organization: string;
  role: Role | 'parent';
  belongs: boolean;
  /** An owner keeps what is known of them. */
  held: boolean;
  /** They are its only owner who can sign in. */
  alone: boolean;
}

export interface AccountDeletion {
  due: Date | null;
  ties: Tie[];
}

/** People who delete their own account: after a week they leave every organization, which then erases them. */
@Injectable()
export class AccountDeletions {
  constructor(
    private readonly db: Database,
    private readonly operations: Operations,
    private readonly offboarding: Offboarding,
    private readonly credentials: CredentialNotices,
    private readonly notices: MembershipNotices,
  ) {}

  /** What is decided, and where the person is known. @param session the session's stored hash */
  async of(session: Buffer | null): Promise<AccountDeletion> {
    const [row] = await this.db.lookUp<AccountDeletion>(sql`SELECT due, ties FROM account_deletion(${session})`);
    return row ?? { due: null, ties: [] };
  }

  /** Again: as it was. The person and the owners are mailed. @throws Refused for the only owner of an organization (`last_owner`) */
  async ask(session: Buffer | null, { userId, requestId }: ActingPerson): Promise<void> {
    const { ties } = await this.of(session);
    const alone = ties.find((one) => one.alone);
    if (alone) throw Refused.conflict('last_owner', `You are the only owner of ${alone.organization}. ${FIRST}`);
    const mail = this.credentials.mail('account_deletion', userId);
    const asked = await this.db.lookUp(sql`
      SELECT ${mail} FROM ask_account_deletion(${session}, ${DAYS_TO_THINK}, ${requestId}) a`);
    if (asked.length === 0) return;
    for (const { organization_id: organizationId, role, belongs } of ties) {
      if (!belongs) continue;
      await this.db.transaction({ organizationId }, () => this.notices.accountDeletion(organizationId, userId, role));
    }
  }

  /** @returns false if there was nothing to call off, or it has begun */
  async callOff(session: Buffer | null, { requestId }: ActingPerson): Promise<boolean> {
    const [row] = await this.db.lookUp<{ off: boolean }>(
      sql`SELECT call_off_account_deletion(${session}, ${requestId}) AS off`,
    );
    return row!.off;
  }

  /**
   * Of whoever's days are over, ends what ties them to organizations, each in a transaction of its own; then the worker erases them. What is held stays
   * until it is released. @param failed is told what did not end: it is tried again in the next round
   */
  async endDue(failed: (error: unknown) => void): Promise<void> {
    const due = await this.db.lookUp<{ userId: string; organizationId: string }>(sql`
      SELECT user_id AS "userId", organization_id AS "organizationId" FROM due_account_deletions(${MOST_TIES})`);
    for (const { userId, organizationId } of due) {
      const by: Actor = { userId, requestId: 'account deletion' };
      const end = async () => {
        const ended = await this.offboarding.ended(organizationId, by, { userId });
        await this.db.query(sql`
          INSERT INTO erasures (organization_id, person_id, due_at) VALUES (${organizationId}, ${userId}, now())
          ON CONFLICT (organization_id, person_id) DO UPDATE SET due_at = now()`);
        return ended;
      };
      await this.operations
        .perform(organizationId, by, 'end membership', { user_id: userId }, end, { own: true })
        .catch(failed);
    }
  }
}

const FIRST = 'Make somebody else an owner first, or ask whoever runs this service to close it.';
