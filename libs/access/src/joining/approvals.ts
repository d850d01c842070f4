import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import type { EmailKind, EmailPayload } from '@app/jobs';
import type { Actor } from '@app/audit';
import { AccountMails, type Provisioner, Identities } from '@app/people';
import { Refused } from '@app/rules';
import { Offboarding } from '../membership/offboarding.js';
import { MembershipNotices } from '../membership/membership-notices.js';
import { Waiting } from './waiting.js';

const ONLY_OWNERS = 'Only an owner can decide about an admin.';
const DECIDED = 'This has already been decided.';

type Role = EmailPayload['role'];

/** What somebody asks to be. Staff may be parents too, so one person may wait as both. */
export type Asking = 'member' | 'parent';

/**
 * Approves or declines people who joined with a reusable code, and admins whom an API key invited: until then they see
 * nothing of the organization. Only owners decide about admins. In the ambient transaction.
 */
@Injectable()
export class Approvals {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly mails: AccountMails,
    private readonly notices: MembershipNotices,
    private readonly waiting: Waiting,
    private readonly offboarding: Offboarding,
  ) {}

  /**
   * Gives the person what they came for, and notifies them by mail, and of a new admin the owners and admins. A parent is
   * linked to the children they asked for. Somebody whose address was changed and is not proven yet is let in by the proof.
   */
  async approve(provisioner: Provisioner, by: Actor, userId: string, as: Asking = 'member'): Promise<void> {
    const { organizationId } = provisioner;
    await this.waiting.lockLessons(organizationId, userId);
    return this.decide(organizationId, by, userId, as, async (role) => {
      const [row] = await this.db.query<{ done: boolean }>(
        as === 'parent' ? sql`SELECT approve_parent(${userId}) AS done` : sql`SELECT approve_member(${userId}) AS done`,
      );
      if (!row!.done) return false;
      if (!(await this.isIn(organizationId, userId, as))) return true;
      await this.waiting.settle(organizationId, userId, as);
      const manages = role === 'owner' || role === 'admin';
      await this.tell(provisioner, 'approval_given', role, userId, '/');
      if (manages) await this.notices.managerAdded(organizationId, by, userId, role);
      return true;
    });
  }

  /**
   * Archives the person and notifies them by mail. Only an invite to their address, not a code, lets them back in. A
   * parent who belongs already stays, without the children they asked for. Somebody whose address was changed leaves.
   */
  decline(provisioner: Provisioner, by: Actor, userId: string, as: Asking = 'member'): Promise<void> {
    const { organizationId } = provisioner;
    return this.decide(organizationId, by, userId, as, async (role) => {
      if (await this.isReaddressed(organizationId, userId, as)) {
        const kind = as === 'parent' ? 'parent' : role === 'student' ? 'student' : 'staff';
        return (await this.offboarding.end(organizationId, by, { userId, as: kind })).changed;
      }
      const waited = await this.waiting.drop(organizationId, userId, as);
      if (as === 'parent' && !waited) return false;
      const declined = await this.db.query(sql`
        WITH declined AS (${as === 'parent' ? declineParent(organizationId, userId) : declineMember(organizationId, userId)}
          RETURNING 1)
        SELECT FROM declined`);
      if (as === 'member' && declined.length === 0) return false;
      await this.tell(provisioner, 'approval_declined', role, userId);
      return true;
    });
  }

  private async isIn(organizationId: string, userId: string, as: Asking): Promise<boolean> {
    return (await this.tieOf(organizationId, userId, as)).status === 'accepted';
  }

  private async isReaddressed(organizationId: string, userId: string, as: Asking): Promise<boolean> {
    const { status, readdressed } = await this.tieOf(organizationId, userId, as);
    return readdressed && status === 'pending';
  }

  private async tieOf(organizationId: string, userId: string, as: Asking) {
    const [tie] = await this.db.query<{ status: string; readdressed: boolean }>(
      as === 'parent'
        ? sql`SELECT status, readdressed_at IS NOT NULL AS readdressed FROM parents
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`
        : sql`SELECT status, readdressed_at IS NOT NULL AS readdressed FROM members
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
    );
    return tie!;
  }

  /** Bypasses row-level security, which hides the logins of people whom the organization has not let in. */
  private async tell(
    provisioner: Provisioner,
    kind: EmailKind,
    role: Role,
    userId: string,
    path?: string,
  ): Promise<void> {
    const login = await this.identities.lock(userId);
    if (login)
      await this.mails.notify(provisioner, kind, role, [{ to: login.email, firstName: login.firstName }], path);
  }

  private async decide(
    organizationId: string,
    by: Actor,
    userId: string,
    as: Asking,
    work: (role: Role) => Promise<boolean>,
  ): Promise<void> {
    await this.db.lockPeople(organizationId, [], [userId]);
    const [person] = await this.db.query<{ role: Role; may: boolean }>(
      as === 'parent'
        ? sql`SELECT 'parent' AS role, true AS may FROM parents
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`
        : sql`SELECT m.role, m.role NOT IN ('owner', 'admin') OR EXISTS (SELECT FROM members o
              WHERE o.organization_id = m.organization_id AND o.user_id = ${by.userId} AND o.role = 'owner'
                AND o.status = 'accepted') AS may
            FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`,
    );
    if (!person) throw Refused.notFound();
    if (!person.may) throw Refused.conflict('is_manager', ONLY_OWNERS);
    if (!(await work(person.role))) throw Refused.invalidState('decided', ['waiting'], DECIDED);
  }
}

const declineMember = (organizationId: string, userId: string): Sql => sql`
  UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
  WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
    AND approval_requested_at IS NOT NULL`;

const declineParent = (organizationId: string, userId: string): Sql => sql`
  UPDATE parents SET status = 'archived'
  WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending' AND enrolled_at IS NULL`;
