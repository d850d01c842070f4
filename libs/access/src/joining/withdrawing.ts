import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type ActingPerson, AuditLog } from '@app/audit';
import { Logins } from '@app/people';
import { Refused } from '@app/rules';
import type { Asking } from './approvals.js';
import { Waiting } from './waiting.js';

/** What became of a request to join. */
interface Ended {
  /** Whether it ended just now. */
  now: boolean;
  /** Whether its person had taken it back before. */
  before: boolean;
}

/** Whoever waits for approval takes the request back, until an owner or admin has decided. */
@Injectable()
export class Withdrawing {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly waiting: Waiting,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Ends the request. It counts as declined by its person, so that only an invite to their address lets them back in. A parent who
   * belongs already stays, without the children they asked for. A changed address is no request of its person. Withdrawn
   * again, nothing changes.
   *
   * @throws Refused when it was decided, or there is none
   */
  withdraw(organizationId: string, by: ActingPerson, as: Asking): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      const { userId } = by;
      await this.logins.lockOrganization(organizationId);
      await this.db.lockPeople(organizationId, [], [userId]);
      const { now, before } = await this.end(organizationId, userId, as);
      if (now) return this.audit.add(organizationId, by, 'withdraw_request', { user_id: userId, as });
      // Somebody who never asked is told the same.
      if (!before) throw Refused.conflict('decided', 'This request is no longer open.');
    });
  }

  private async end(organizationId: string, userId: string, as: Asking): Promise<Ended> {
    const own = sql`organization_id = ${organizationId} AND user_id = ${userId}`;
    const [ended] = await this.db.query<Ended>(
      as === 'parent'
        ? sql`WITH ended AS (UPDATE parents SET status = 'archived', refused_at = coalesce(refused_at, now())
            WHERE ${own} AND status = 'pending' AND enrolled_at IS NULL AND readdressed_at IS NULL RETURNING 1)
          SELECT EXISTS (SELECT FROM ended) AS now, EXISTS (SELECT FROM parents
            WHERE ${own} AND status = 'archived' AND refused_at IS NOT NULL) AS before`
        : sql`WITH ended AS (UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL,
              refused_at = coalesce(refused_at, now())
            WHERE ${own} AND status = 'pending' AND approval_requested_at IS NOT NULL AND readdressed_at IS NULL RETURNING 1)
          SELECT EXISTS (SELECT FROM ended) AS now, EXISTS (SELECT FROM members
            WHERE ${own} AND status = 'archived' AND refused_at IS NOT NULL) AS before`,
    );
    if (as === 'member' && !ended!.now) return ended!;
    const asked = await this.waiting.drop(organizationId, userId, as);
    // The links that were mailed to confirm the address are for whoever belongs.
    if (ended!.now)
      await this.db.query(sql`
        UPDATE invites SET revoked_at = now(), declined_at = now(), proof_hash = NULL WHERE organization_id = ${organizationId}
          AND scope = 'account' AND target_id = ${userId} AND (role = 'parent') = ${as === 'parent'}
          AND accepted_at IS NULL AND revoked_at IS NULL`);
    return { ...ended!, now: ended!.now || asked };
  }
}
