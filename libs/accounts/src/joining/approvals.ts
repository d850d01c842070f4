import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import type { EmailKind } from '@app/jobs';
import { type Actor, AuditLog } from '@app/audit';
import { AccountMails, Logins, type Provisioner } from '@app/people';
import { Refused } from '@app/rules';
import { Identities } from './identities.js';
import { Waiting } from './waiting.js';

const DECIDED = 'This has already been decided.';

/** What somebody asks to be. Staff may be parents too, so one person may wait as both. */
export type Asking = 'member' | 'parent';

/** Approves or declines people who joined with a reusable code and wait: until then they see nothing of the organization. */
@Injectable()
export class Approvals {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly audit: AuditLog,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
    private readonly waiting: Waiting,
  ) {}

  /** Gives the person what they came for, and notifies them by mail. A parent is linked to the children they asked for. */
  approve(provisioner: Provisioner, by: Actor, userId: string, as: Asking = 'member'): Promise<void> {
    const { organizationId } = provisioner;
    return this.decide(organizationId, by, `approve_${as}`, userId, async () => {
      const [row] = await this.db.query<{ done: boolean }>(
        as === 'parent' ? sql`SELECT approve_parent(${userId}) AS done` : sql`SELECT approve_member(${userId}) AS done`,
      );
      if (!row!.done) return false;
      await this.waiting.settle(organizationId, userId, as);
      await this.tell(provisioner, 'approval_given', userId, as, '/sign-in');
      return true;
    });
  }

  /**
   * Archives the person and notifies them by mail. Only an invite to their address, not a code, lets them back in. A
   * parent who belongs already stays, without the children they asked for.
   */
  decline(provisioner: Provisioner, by: Actor, userId: string, as: Asking = 'member'): Promise<void> {
    const { organizationId } = provisioner;
    return this.decide(organizationId, by, `decline_${as}`, userId, async () => {
      const waited = await this.waiting.drop(organizationId, userId, as);
      if (as === 'parent' && !waited) return false;
      const declined = await this.db.query(sql`
        WITH declined AS (${as === 'parent' ? declineParent(organizationId, userId) : declineMember(organizationId, userId)}
          RETURNING 1)
        SELECT FROM declined`);
      if (as === 'member' && declined.length === 0) return false;
      await this.tell(provisioner, 'approval_declined', userId, as);
      return true;
    });
  }

  /** Bypasses row-level security, which hides the logins of people whom the organization has not let in. */
  private async tell(
    provisioner: Provisioner,
    kind: EmailKind,
    userId: string,
    as: Asking,
    path?: string,
  ): Promise<void> {
    const login = await this.identities.hold(userId);
    const [member] = await this.db.query<{ role: 'tutor' | 'student' }>(sql`
      SELECT role FROM members WHERE organization_id = ${provisioner.organizationId} AND user_id = ${userId}`);
    const role = as === 'parent' ? as : (member?.role ?? 'tutor');
    if (login)
      await this.mails.notify(provisioner, kind, role, [{ to: login.email, firstName: login.firstName }], path);
  }

  private decide(
    organizationId: string,
    by: Actor,
    operation: string,
    userId: string,
    work: () => Promise<boolean>,
  ): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.holdOrganization(organizationId);
      if (!(await work())) {
        const known = await this.db.query(sql`
          SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId}
          UNION ALL SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
        throw known.length > 0 ? Refused.invalidState('decided', ['waiting'], DECIDED) : Refused.notFound();
      }
      await this.audit.add(organizationId, by, operation, { user_id: userId });
    });
  }
}

const declineMember = (organizationId: string, userId: string): Sql => sql`
  UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
  WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
    AND approval_requested_at IS NOT NULL`;

const declineParent = (organizationId: string, userId: string): Sql => sql`
  UPDATE parents SET status = 'archived'
  WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending' AND enrolled_at IS NULL`;
