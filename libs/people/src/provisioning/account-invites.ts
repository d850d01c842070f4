import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import { AccountMails } from './account-mails.js';
import { Logins } from './logins.js';
import type { Provisioner } from './people.js';
import type { Refusal } from '@app/rules';

/** The result of inviting somebody again. */
export type AccountInvite =
  { status: 'absent' } | { status: 'refused'; refusal: Refusal } | { status: 'done'; sent: boolean; email: string };

interface Recipient {
  status: Tables['members']['status'];
  email: string | null;
  first_name: string | null;
}

/** Roles that an invite can grant. */
type InvitedRole = Exclude<Tables['members']['role'], 'owner'>;

const NO_ADDRESS = 'This account has no email address. Add one first.';
const ARCHIVED = 'This person is archived. Add them again first.';
const WAITS = 'This person is waiting for approval. Approve or decline them in the portal instead.';

/** Mails existing people a link to their account, at the organization's request. */
@Injectable()
export class AccountInvites {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
  ) {}

  sendToStudent(by: Provisioner, id: string): Promise<AccountInvite> {
    return this.sendToMember(by, id, ['student']);
  }

  /** @param roles members with another role are treated as unknown */
  async sendToMember(by: Provisioner, id: string, roles: InvitedRole[]): Promise<AccountInvite> {
    await this.logins.holdOrganization(by.organizationId);
    const [member] = await this.db.query<Recipient & { role: InvitedRole; waits: boolean }>(sql`
      SELECT m.role, m.status, CASE WHEN m.accepted_at IS NULL THEN m.supplied_first_name ELSE u.first_name END AS first_name,
        CASE WHEN m.accepted_at IS NULL THEN m.supplied_email WHEN NOT u.placeholder_email THEN u.email END AS email,
        m.approval_requested_at IS NOT NULL AS waits
      FROM members m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${by.organizationId} AND m.user_id = ${id} AND m.role = ANY (${roles})
      FOR NO KEY UPDATE OF m`);
    if (member?.waits) return refused(WAITS);
    const invite = await this.send(by, id, member?.role ?? 'student', member);
    if (invite.status === 'done' && invite.sent) {
      await this.db.query(sql`
        UPDATE members SET invited_at = now() WHERE organization_id = ${by.organizationId} AND user_id = ${id}`);
    }
    return invite;
  }

  /** A parent without a linked child does not exist for the organization. */
  async sendToParent(by: Provisioner, id: string): Promise<AccountInvite> {
    const [parent] = await this.db.query<Recipient>(sql`
      SELECT p.status, CASE WHEN p.accepted_at IS NULL THEN p.supplied_first_name ELSE u.first_name END AS first_name,
        CASE WHEN p.accepted_at IS NULL THEN p.supplied_email WHEN NOT u.placeholder_email THEN u.email END AS email
      FROM parents p LEFT JOIN users u ON u.id = p.user_id
      WHERE p.organization_id = ${by.organizationId} AND p.user_id = ${id} AND p.enrolled_at IS NOT NULL`);
    return this.send(by, id, 'parent', parent);
  }

  private async send(
    by: Provisioner,
    id: string,
    role: InvitedRole | 'parent',
    person: Recipient | undefined,
  ): Promise<AccountInvite> {
    if (!person) return { status: 'absent' };
    const { status, email, first_name: firstName } = person;
    if (status === 'archived') return refused(ARCHIVED);
    if (email === null) return refused(NO_ADDRESS);
    const kind = status === 'pending' ? 'membership_invite' : 'account_created';
    const queued = await this.mails.queue(by, [{ kind, role, id, to: email, firstName }]);
    return { status: 'done', sent: queued.has(id), email };
  }
}

function refused(reason: string): AccountInvite {
  return { status: 'refused', refusal: { at: [], reason } };
}
