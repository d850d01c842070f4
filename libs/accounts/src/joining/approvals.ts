import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Tenant } from '@app/database';
import { AuditLog } from '../audit-log.js';
import { AccountMails } from '../provisioning/account-mails.js';
import type { Provisioner } from '../provisioning/people.js';

/** The owner or admin who decides something, and in which request. */
export interface Decider {
  userId: string;
  requestId: string;
}

/** `decided`: nobody waits under this id any more, or never did. `absent`: nobody here has it. */
export type Decided = 'done' | 'decided' | 'absent';

/** Lets tutors in who have joined by a reusable code, or does not. Whoever waits sees nothing of the organization. */
@Injectable()
export class Approvals {
  constructor(
    private readonly db: Database,
    private readonly audit: AuditLog,
    private readonly mails: AccountMails,
  ) {}

  /** The tutor is told by mail. */
  approve(provisioner: Provisioner, userId: string, by: Decider): Promise<Decided> {
    return this.decide(provisioner, userId, by, 'approve_member', async () => {
      const [row] = await this.db.query<{ done: boolean }>(sql`SELECT approve_member(${userId}) AS done`);
      if (row!.done) await this.tell(provisioner, userId);
      return row!.done;
    });
  }

  /** They are archived: a code does not let them back in, only an invite to their address. */
  decline(tenant: Tenant, userId: string, by: Decider): Promise<Decided> {
    return this.decide(tenant, userId, by, 'decline_member', async () => {
      const declined = await this.db.query(sql`
        WITH declined AS (
          UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
          WHERE organization_id = ${tenant.organizationId} AND user_id = ${userId} AND status = 'pending'
            AND approval_requested_at IS NOT NULL RETURNING 1)
        SELECT FROM declined`);
      return declined.length > 0;
    });
  }

  private async tell(provisioner: Provisioner, userId: string): Promise<void> {
    const tutor = await this.db.query<{ to: string; firstName: string }>(sql`
      SELECT u.email AS to, u.first_name AS "firstName" FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${provisioner.organizationId} AND m.user_id = ${userId} AND NOT u.placeholder_email`);
    await this.mails.notify(provisioner, 'approval_given', 'tutor', tutor, '/sign-in');
  }

  private decide(
    tenant: Tenant,
    userId: string,
    by: Decider,
    operation: string,
    work: () => Promise<boolean>,
  ): Promise<Decided> {
    const { organizationId } = tenant;
    return this.db.transaction(tenant, async () => {
      if (!(await work())) {
        const members = await this.db.query(sql`
          SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
        return members.length > 0 ? 'decided' : 'absent';
      }
      await this.audit.add(organizationId, operation, by.requestId, { user_id: userId, by: by.userId });
      return 'done';
    });
  }
}
