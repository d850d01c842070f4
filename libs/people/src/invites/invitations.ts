import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, findId, normalizeEmail, type Tables } from '@app/database';
import { type EmailKind, Outbox } from '@app/jobs';
import { Refused } from '@app/rules';
import { InviteTargets } from './invite-targets.js';
import { Invites, type MintedInvite, type NewInvite } from './invites.js';
import type { Provisioner } from '../provisioning/people.js';

/** The scopes whose invites to an address are mailed, not only recorded. */
const MAILED: Partial<Record<Tables['invites']['scope'], EmailKind>> = {
  organization: 'organization_invite',
  tutor_student: 'tutor_invite',
};

/** What an invite is for. This decides whether it has a token or a code, and whether it is mailed. */
type Decided = Required<Pick<NewInvite, 'scope' | 'role' | 'targetId' | 'subjectId' | 'email' | 'apiKeyId'>> &
  Pick<NewInvite, 'createdBy'>;

/** The same as it is asked for: the subject by its id or code. */
export type WantedInvite = Omit<Decided, 'subjectId'> & { subject: string | null };

/** A new invite, with its link or code to hand over. */
export interface SentInvite {
  invite: MintedInvite;
  /** null if the code alone is shared. */
  joinUrl: string | null;
  /** Whether a mail was queued. */
  emailed: boolean;
}

/** Why no mail was queued, for the person who asked for it. */
export function notMailed(email: string): string {
  return `No email was sent to ${email}: the address received one in the last ten minutes or rejects email, or the daily limit has been reached.`;
}

/** Creates, resends and revokes an organization's invites, in the ambient transaction. */
@Injectable()
export class Invitations {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly targets: InviteTargets,
    private readonly outbox: Outbox,
  ) {}

  /** Creates an invite and queues its mail. @throws Refused for an unknown target, and at `email` for the address of a member */
  async invite(by: Provisioner, wanted: WantedInvite): Promise<SentInvite> {
    await this.targets.require(by.organizationId, wanted);
    const subjectId = await findId(this.db, 'subjects', by.organizationId, wanted.subject);
    return this.send(by, { ...wanted, subjectId });
  }

  private async send(by: Provisioner, wanted: Decided): Promise<SentInvite> {
    const { scope, email } = wanted;
    const linked = scope === 'tutor_student' || (scope === 'organization' && email !== null);
    const mailed = email !== null && scope in MAILED;
    const [invite] = await this.invites.mint(by.organizationId, [{ ...wanted, code: !linked, mailed }]);
    const joinUrl = scope === 'parent' ? null : this.invites.joinUrl(invite!.secret);
    return { invite: invite!, joinUrl, emailed: await this.mail(by, invite!) };
  }

  /** Replaces an invite to one person. The old link stops working. @throws Refused when there is no open one, or its mail cannot be sent now */
  async resend(by: Provisioner, createdBy: string | null, id: string): Promise<SentInvite> {
    const old = await this.close(by.organizationId, id);
    // Without an address, the code was shared: there is nobody to send it to again.
    if (!old?.email) throw Refused.notFound();
    const { scope, email } = old;
    const sent = await this.send(by, { ...old, apiKeyId: null, createdBy });
    // Keep the old invite valid: its mail may still be on its way.
    if (scope in MAILED && this.outbox.sendsMail && !sent.emailed) {
      throw Refused.conflict('not_mailed', notMailed(email), { email });
    }
    return sent;
  }

  /** An owner confirms an invite whose maker manages no longer. @throws Refused for anybody else, and when no such invite waits */
  async confirm(organizationId: string, userId: string, id: string): Promise<void> {
    const confirmed = await this.db.query(sql`
      WITH confirmed AS (
        UPDATE invites SET held_at = NULL WHERE organization_id = ${organizationId} AND id = ${id} AND held_at IS NOT NULL
          AND accepted_at IS NULL AND revoked_at IS NULL AND EXISTS (SELECT FROM members
            WHERE organization_id = ${organizationId} AND user_id = ${userId} AND role = 'owner' AND status = 'accepted')
        RETURNING 1)
      SELECT FROM confirmed`);
    if (confirmed.length === 0) throw Refused.notFound();
  }

  /** Revokes an invite: its link or code stops working. @param standing also a permanent code @throws Refused when there is no such open invite */
  async end(organizationId: string, id: string, standing = false): Promise<void> {
    if (!(await this.close(organizationId, id, standing))) throw Refused.notFound();
  }

  /** Revokes the account links that were mailed to somebody. @throws Refused when there are none */
  async revokeAccountLinks(organizationId: string, userId: string): Promise<void> {
    const revoked = await this.db.query(sql`
      WITH revoked AS (
        UPDATE invites SET revoked_at = now() WHERE organization_id = ${organizationId} AND scope = 'account'
          AND target_id = ${userId} AND accepted_at IS NULL AND revoked_at IS NULL RETURNING id)
      SELECT id FROM revoked`);
    if (revoked.length === 0) throw Refused.notFound();
  }

  /** Leaves permanent codes unless they are meant, and account links, which belong to people. */
  private async close(organizationId: string, id: string, standing = false) {
    const [closed = null] = await this.db.query<
      Required<Pick<NewInvite, 'scope' | 'role' | 'targetId' | 'subjectId' | 'email'>>
    >(sql`
      WITH closed AS (
        UPDATE invites SET revoked_at = now(), switched_off = email IS NULL
        WHERE organization_id = ${organizationId} AND id = ${id} AND accepted_at IS NULL AND revoked_at IS NULL
          AND (NOT standing OR ${standing}::boolean) AND scope <> 'account'
        RETURNING scope, role, target_id, subject_id, email)
      SELECT scope, role, target_id AS "targetId", subject_id AS "subjectId", email FROM closed`);
    return closed;
  }

  private async mail(by: Provisioner, invite: MintedInvite): Promise<boolean> {
    const kind = MAILED[invite.scope];
    if (!kind || !invite.email) return false;
    const { role, email: to } = invite;
    const mail = { kind, to, firstName: null, role, link: this.invites.linkOf(invite) };
    const queued = await this.outbox.addEmails(by, [mail]);
    return queued.has(normalizeEmail(invite.email));
  }
}
