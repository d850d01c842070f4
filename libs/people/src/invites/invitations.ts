import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, normalizeEmail, type Tables } from '@app/database';
import { type EmailKind, Outbox } from '@app/jobs';
import { type Actor, AuditLog } from '@app/audit';
import { Invites, type MintedInvite, type NewInvite } from './invites.js';
import type { Provisioner } from '../provisioning/people.js';

/** The scopes whose invites to an address are mailed, not only recorded. */
const MAILED: Partial<Record<Tables['invites']['scope'], EmailKind>> = {
  organization: 'organization_invite',
  tutor_student: 'tutor_invite',
};

/** What an invite is for. This decides whether it has a token or a code, and whether it is mailed. */
export type WantedInvite = Required<
  Pick<NewInvite, 'scope' | 'role' | 'targetId' | 'subjectId' | 'email' | 'apiKeyId'>
>;

/** A new invite, with its link or code to hand over. */
export interface SentInvite {
  invite: MintedInvite;
  /** null if the code alone is shared. */
  joinUrl: string | null;
  /** Whether a mail was queued. */
  emailed: boolean;
}

/** The result of a request to send an invite again. */
export type ResentInvite =
  | { status: 'absent' }
  /** The address was mailed moments ago or rejects mail, or the day's allowance is used up. */
  | { status: 'not_now'; email: string }
  | ({ status: 'done' } & SentInvite);

/** Rolls the transaction back. */
class NotNow extends Error {
  constructor(readonly email: string) {
    super('not now');
  }
}

/** Creates, resends and revokes an organization's invites, for the API and the portal. */
@Injectable()
export class Invitations {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly outbox: Outbox,
    private readonly audit: AuditLog,
  ) {}

  /** Creates an invite inside the ambient transaction, and queues its mail if it has one. */
  async send(by: Provisioner, wanted: WantedInvite): Promise<SentInvite> {
    const { scope, email } = wanted;
    const linked = scope === 'tutor_student' || (scope === 'organization' && email !== null);
    const mailed = email !== null && scope in MAILED;
    const [invite] = await this.invites.mint(by.organizationId, [{ ...wanted, code: !linked, mailed }]);
    const joinUrl = scope === 'parent' ? null : this.invites.joinUrl(invite!.secret);
    return { invite: invite!, joinUrl, emailed: await this.mail(by, invite!) };
  }

  /**
   * Replaces an invite to one person, expired or not, with a new one. The old link stops working.
   *
   * @param id an invite that was neither accepted nor revoked
   */
  async resend(provisioner: Provisioner, by: Actor, id: string): Promise<ResentInvite> {
    const { organizationId } = provisioner;
    try {
      return await this.db.transaction({ organizationId }, () => this.replace(provisioner, by, id));
    } catch (error) {
      if (error instanceof NotNow) return { status: 'not_now', email: error.email };
      throw error;
    }
  }

  /** Revokes an invite: its link or code stops working. @returns false when there is no such open invite */
  revoke(organizationId: string, by: Actor, id: string): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      const revoked = await this.close(organizationId, id);
      if (!revoked) return false;
      await this.audit.add(organizationId, by, 'revoke_invite', { invite_id: id });
      return true;
    });
  }

  private async replace(provisioner: Provisioner, by: Actor, id: string): Promise<ResentInvite> {
    const { organizationId } = provisioner;
    const old = await this.close(organizationId, id);
    if (!old?.email) return { status: 'absent' };
    const { scope, role, target_id: targetId, subject_id: subjectId, email } = old;
    const sent = await this.send(provisioner, { scope, role, targetId, subjectId, email, apiKeyId: null });
    // Keep the old invite valid: its mail may still be on its way.
    if (scope in MAILED && this.outbox.sendsMail && !sent.emailed) throw new NotNow(email);
    const details = { invite_id: sent.invite.id, replaces: id, emailed: sent.emailed };
    await this.audit.add(organizationId, by, 'resend_invite', details);
    return { status: 'done', ...sent };
  }

  /** Revokes inside the ambient transaction. Leaves standing codes, and account links, which belong to people. */
  private async close(organizationId: string, id: string) {
    const [row] = await this.db.query<
      Pick<Tables['invites'], 'scope' | 'role'> & { email: string | null; target_id: string; subject_id: string | null }
    >(sql`
      WITH closed AS (
        UPDATE invites SET revoked_at = now()
        WHERE organization_id = ${organizationId} AND id = ${id} AND accepted_at IS NULL AND revoked_at IS NULL
          AND NOT standing AND scope <> 'account'
        RETURNING scope, role, target_id, subject_id, email)
      SELECT * FROM closed`);
    return row ?? null;
  }

  private async mail(by: Provisioner, invite: MintedInvite): Promise<boolean> {
    const kind = MAILED[invite.scope];
    if (!kind || !invite.email) return false;
    const { role, email: to } = invite;
    const queued = await this.outbox.addEmails(by, [
      { kind, to, firstName: null, role, link: this.invites.linkOf(invite) },
    ]);
    return queued.has(normalizeEmail(invite.email));
  }
}
