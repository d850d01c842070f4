import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import { Refused } from '@app/rules';
import { visibleColumns } from '../visible-person.js';
import { Invites } from '../invites/invites.js';
import { AccountMails } from './account-mails.js';
import { Logins } from './logins.js';
import type { Provisioner } from './people.js';
import { HAS_LEFT } from './refusals.js';

/** Whether a mail to the person's address was queued. */
export interface AccountInvite {
  sent: boolean;
  email: string;
}

type Recipient = Pick<Tables['members'], 'status'> & {
  email: string | null;
  first_name: string | null;
};

/** Roles that an invite can grant. */
type InvitedRole = Exclude<Tables['members']['role'], 'owner'>;

const NO_ADDRESS = 'This account has no email address. Add one first.';
const WAITS = 'This person is waiting for approval. Approve or decline them in the portal instead.';

/** Mails people a link to their account. Refuses for somebody who is archived, has no address or waits for approval. */
@Injectable()
export class AccountInvites {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
    private readonly invites: Invites,
  ) {}

  sendToStudent(by: Provisioner, id: string): Promise<AccountInvite> {
    return this.sendToMember(by, id, ['student']);
  }

  /** @param roles members with another role are treated as unknown */
  async sendToMember(by: Provisioner, id: string, roles: InvitedRole[]): Promise<AccountInvite> {
    await this.logins.lockOrganization(by.organizationId);
    const [member] = await this.db.query<Recipient & { role: InvitedRole; waits: boolean }>(sql`
      SELECT m.role, m.status, ${visibleColumns('m', ['first_name', 'email'])}, m.approval_requested_at IS NOT NULL AS waits
      FROM members m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${by.organizationId} AND m.user_id = ${id} AND m.role = ANY (${roles})
      FOR NO KEY UPDATE OF m`);
    if (member?.waits) throw Refused.invalid(WAITS);
    const invite = await this.send(by, id, member?.role ?? 'student', member);
    if (invite.sent) {
      await this.db.query(sql`
        UPDATE members SET invited_at = now() WHERE organization_id = ${by.organizationId} AND user_id = ${id}`);
    }
    return invite;
  }

  /** A parent without a linked child does not exist for the organization. */
  async sendToParent(by: Provisioner, id: string): Promise<AccountInvite> {
    const [parent] = await this.db.query<Recipient>(sql`
      SELECT p.status, ${visibleColumns('p', ['first_name', 'email'])}
      FROM parents p LEFT JOIN users u ON u.id = p.user_id
      WHERE p.organization_id = ${by.organizationId} AND p.user_id = ${id} AND p.enrolled_at IS NOT NULL`);
    return this.send(by, id, 'parent', parent);
  }

  /** A link to an account for its person, to be handed over where no mail can go out. It proves nothing. */
  async handOver(by: Provisioner, id: string, role: InvitedRole | 'parent', email: string): Promise<string> {
    const wanted = { scope: 'account', role, targetId: id, email, apiKeyId: by.keyId } as const;
    const [invite] = await this.invites.mint(by.organizationId, [wanted]);
    return this.invites.joinUrl(invite!.secret);
  }

  private async send(
    by: Provisioner,
    id: string,
    role: InvitedRole | 'parent',
    person: Recipient | undefined,
  ): Promise<AccountInvite> {
    if (!person) throw Refused.notFound();
    const { status, email, first_name: firstName } = person;
    if (status === 'archived') throw Refused.invalid(HAS_LEFT);
    if (email === null) throw Refused.invalid(NO_ADDRESS);
    const kind = status === 'pending' ? 'membership_invite' : 'account_created';
    const queued = await this.mails.queue(by, [{ kind, role, id, to: email, firstName }]);
    return { sent: queued.has(id), email };
  }
}
