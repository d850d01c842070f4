import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import type { EmailKind } from '@app/jobs';
import { type Actor, AuditLog, type Operation } from '@app/audit';
import { AccountMails, Logins, type Provisioner } from '@app/people';
import { Refused } from '@app/rules';
import { MembershipNotices } from '../membership/membership-notices.js';
import { isManager, type Role } from '../membership/who-may.js';
import { Identities } from './identities.js';

const ONLY_OWNERS = 'Only an owner can decide about an admin.';
const DECIDED = 'This has already been decided.';

/**
 * Approves or declines tutors who joined with a reusable code, and admins whom an API key invited: until then they see
 * nothing of the organization. Only owners decide about admins.
 */
@Injectable()
export class Approvals {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly audit: AuditLog,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
    private readonly notices: MembershipNotices,
  ) {}

  /** Notifies the person by mail, and of a new admin the owners and admins. */
  approve(provisioner: Provisioner, by: Actor, userId: string): Promise<void> {
    return this.decide(provisioner.organizationId, by, 'approve_member', userId, async (role) => {
      const [row] = await this.db.query<{ done: boolean }>(sql`SELECT approve_member(${userId}) AS done`);
      const manages = isManager(role);
      if (row!.done)
        await this.tell(provisioner, manages ? 'role_changed' : 'approval_given', role, userId, '/sign-in');
      if (row!.done && manages) await this.notices.managerAdded(provisioner.organizationId, by, userId, role);
      return row!.done;
    });
  }

  /** Archives the person and notifies them by mail. Only an invite to their address, not a code, lets them back in. */
  decline(provisioner: Provisioner, by: Actor, userId: string): Promise<void> {
    const { organizationId } = provisioner;
    return this.decide(organizationId, by, 'decline_member', userId, async (role) => {
      const declined = await this.db.query(sql`
        WITH declined AS (
          UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
          WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
            AND approval_requested_at IS NOT NULL RETURNING 1)
        SELECT FROM declined`);
      if (declined.length > 0) await this.tell(provisioner, 'approval_declined', role, userId);
      return declined.length > 0;
    });
  }

  /** Bypasses row-level security, which hides the logins of people whom the organization has not let in. */
  private async tell(
    provisioner: Provisioner,
    kind: EmailKind,
    role: Role,
    userId: string,
    path?: string,
  ): Promise<void> {
    const login = await this.identities.hold(userId);
    if (login)
      await this.mails.notify(provisioner, kind, role, [{ to: login.email, firstName: login.firstName }], path);
  }

  private decide(
    organizationId: string,
    by: Actor,
    operation: Operation,
    userId: string,
    work: (role: Role) => Promise<boolean>,
  ): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.holdOrganization(organizationId);
      const [member] = await this.db.query<{ role: Role; may: boolean }>(sql`
        SELECT m.role, m.role NOT IN ('owner', 'admin') OR EXISTS (SELECT FROM members o
          WHERE o.organization_id = m.organization_id AND o.user_id = ${by.userId} AND o.role = 'owner'
            AND o.status = 'accepted') AS may
        FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}`);
      if (!member) throw Refused.notFound();
      if (!member.may) throw Refused.conflict('is_manager', ONLY_OWNERS);
      if (!(await work(member.role))) throw Refused.invalidState('decided', ['waiting'], DECIDED);
      await this.audit.add(organizationId, by, operation, { user_id: userId });
    });
  }
}
