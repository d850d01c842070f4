import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import { type Actor, AuditLog } from '@app/audit';
import { InviteTargets, isCode, Logins, readSecret, shownName, Identities } from '@app/people';
import { type DeclinedInMail, MembershipNotices } from '../membership/membership-notices.js';
import type { NotJoined } from './join-outcome.js';
import { type OpenedInvite, OpenedInvites } from './opened-invites.js';

export interface Declined {
  status: 'declined';
  organizationId: string;
  /** Whether the invite was closed. A link or code for many goes on working for the others. */
  closed: boolean;
  /** Whether the organization counts the person as its member all the same: it had added them itself. */
  belongs: boolean;
}

interface Tie extends Pick<Tables['members'], 'status'> {
  name: string | null;
}

/** Declines invites. It takes no account: whoever holds the link can also accept. */
@Injectable()
export class Declining {
  constructor(
    private readonly db: Database,
    private readonly opened: OpenedInvites,
    private readonly identities: Identities,
    private readonly logins: Logins,
    private readonly targets: InviteTargets,
    private readonly notices: MembershipNotices,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Closes an invite to one person, or a parent's code, and tells the owners and admins. Nothing that was accepted before
   * changes. @param text token or code, however it was typed @param notMine a parent says that it is not their child
   */
  async decline(text: string, by: Actor, notMine = false): Promise<Declined | NotJoined> {
    const found = await this.opened.find(text);
    const unknown = { status: 'refused', problem: 'unknown' } as const;
    if (!found || (found.closed && isCode(readSecret(text)))) return unknown;
    const { organizationId } = found;
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.lockOrganization(organizationId);
      const invite = await this.opened.lock(found, null);
      if (!invite) return unknown;
      const { state } = invite;
      if (state !== 'valid' && state !== 'unproven') return { status: 'refused', problem: state };
      // A stranger with a code for many must not take it from the others, nor mail the owners as often as they like.
      const closed = invite.email !== null || invite.scope === 'parent';
      const tie = closed ? await this.close(invite, by, notMine) : null;
      return { status: 'declined', organizationId, closed, belongs: tie?.status === 'accepted' };
    });
  }

  private async close(invite: OpenedInvite, by: Actor, notMine: boolean): Promise<Tie | null> {
    const { id, organizationId, scope, role, targetId: target_id, email } = invite;
    await this.db.query(sql`
      UPDATE invites SET revoked_at = now(), declined_at = now(), proof_hash = NULL
      WHERE organization_id = ${organizationId} AND (id = ${id} OR (${scope === 'account'} AND scope = 'account'
        AND target_id = ${target_id} AND accepted_at IS NULL AND revoked_at IS NULL))`);
    const target = await this.nameOf(invite);
    const tie = scope === 'account' ? await this.tieOf(organizationId, target_id, role) : null;
    if (scope === 'account') await this.db.lockPeople(organizationId, [], [target_id]);
    const ended =
      scope === 'account' && (await this.identities.decline(target_id, role === 'parent' ? 'parent' : 'member'));
    // The organization learns of no account that it did not know.
    const userId = scope === 'account' && by.userId === target_id ? by.userId : null;
    await this.audit.add(organizationId, { ...by, userId }, 'decline_invite', {
      invite_id: id,
      scope,
      role,
      target_id,
      ended,
    });
    await this.notices.declined(organizationId, {
      role,
      person: tie?.name ?? null,
      email,
      target,
      notMine: notMine && role === 'parent',
    } satisfies DeclinedInMail);
    return tie;
  }

  /** The membership that an account's link is about. */
  private async tieOf(organizationId: string, userId: string, role: OpenedInvite['role']): Promise<Tie | null> {
    const [tie = null] = await this.db.query<Tie>(sql`
      SELECT t.status, ${shownName('t')} AS name
      FROM ${raw(role === 'parent' ? 'parents' : 'members')} t LEFT JOIN users u ON u.id = t.user_id
      WHERE t.organization_id = ${organizationId} AND t.user_id = ${userId}`);
    return tie;
  }

  /** For owners, the full names of children. */
  private async nameOf({ organizationId, scope, role, targetId }: OpenedInvite): Promise<string | null> {
    if (scope === 'account' && role === 'parent')
      return (await this.targets.childrenOf(organizationId, targetId, 'full_name')).join(' and ') || null;
    if (scope !== 'parent') return this.targets.nameOf(organizationId, scope, targetId);
    return (await this.tieOf(organizationId, targetId, 'student'))?.name ?? null;
  }
}
