import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import type { EmailKind } from '@app/jobs';
import { type Actor, AuditLog, type Operation } from '@app/audit';
import { AccountMails, Logins, type Provisioner } from '@app/people';
import { Refused } from '@app/rules';
import { Identities } from './identities.js';

const DECIDED = 'This has already been decided.';

/** Approves or declines tutors who joined with a reusable code and wait: until then they see nothing of the organization. */
@Injectable()
export class Approvals {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly audit: AuditLog,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
  ) {}

  /** Notifies the tutor by mail. */
  approve(provisioner: Provisioner, by: Actor, userId: string): Promise<void> {
    return this.decide(provisioner.organizationId, by, 'approve_member', userId, async () => {
      const [row] = await this.db.query<{ done: boolean }>(sql`SELECT approve_member(${userId}) AS done`);
      if (row!.done) await this.tell(provisioner, 'approval_given', userId, '/sign-in');
      return row!.done;
    });
  }

  /** Archives the tutor and notifies them by mail. Only an invite to their address, not a code, lets them back in. */
  decline(provisioner: Provisioner, by: Actor, userId: string): Promise<void> {
    const { organizationId } = provisioner;
    return this.decide(organizationId, by, 'decline_member', userId, async () => {
      const declined = await this.db.query(sql`
        WITH declined AS (
          UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
          WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
            AND approval_requested_at IS NOT NULL RETURNING 1)
        SELECT FROM declined`);
      if (declined.length > 0) await this.tell(provisioner, 'approval_declined', userId);
      return declined.length > 0;
    });
  }

  /** Bypasses row-level security, which hides the logins of people whom the organization has not let in. */
  private async tell(provisioner: Provisioner, kind: EmailKind, userId: string, path?: string): Promise<void> {
    const login = await this.identities.hold(userId);
    if (login)
      await this.mails.notify(provisioner, kind, 'tutor', [{ to: login.email, firstName: login.firstName }], path);
  }

  private decide(
    organizationId: string,
    by: Actor,
    operation: Operation,
    userId: string,
    work: () => Promise<boolean>,
  ): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.holdOrganization(organizationId);
      if (!(await work())) {
        const members = await this.db.query(sql`
          SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
        throw members.length > 0 ? Refused.invalidState('decided', ['waiting'], DECIDED) : Refused.notFound();
      }
      await this.audit.add(organizationId, by, operation, { user_id: userId });
    });
  }
}
