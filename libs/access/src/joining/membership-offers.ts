import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type ActingPerson, AuditLog } from '@app/audit';
import { InviteTargets, Logins, type Contact, Identities } from '@app/people';
import { Refused } from '@app/rules';
import { Managers } from '../membership/managers.js';
import { MembershipNotices } from '../membership/membership-notices.js';

/** A membership that an organization offers and that the person has not answered yet. */
export interface MembershipOffer {
  organizationId: string;
  organization: string;
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  as: 'member' | 'parent';
  /** The first names of the children whom a parent would see. */
  children: string[];
  contact: Contact;
}

/** A membership that the organization has yet to approve. */
export interface WaitingMembership {
  organizationId: string;
  organization: string;
  role: 'admin' | 'tutor' | 'student' | 'parent';
  since: Date;
  /** The organization's. */
  timeZone: string;
  /** A key of the organization changed their address. */
  readdressed: boolean;
  /** The first names of the children whom a parent asks for. */
  children: string[];
  contact: Contact;
}

/** Pending memberships of people with a proven address: what an invite by mail offers, without the mail. */
@Injectable()
export class MembershipOffers {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly logins: Logins,
    private readonly audit: AuditLog,
    private readonly notices: MembershipNotices,
    private readonly managers: Managers,
    private readonly targets: InviteTargets,
  ) {}

  /** @param session the session's stored hash; the list is empty unless the address is proven */
  list(session: Buffer | null): Promise<MembershipOffer[]> {
    return this.db.lookUp<MembershipOffer>(sql`
      SELECT organization_id AS "organizationId", organization, role, CASE WHEN as_parent THEN 'parent' ELSE 'member' END AS as,
        children, contact
      FROM membership_offers(${session})`);
  }

  /** The names of the organizations that the person belonged to and no longer does. @param session the session's stored hash */
  async former(session: Buffer | null): Promise<string[]> {
    const rows = await this.db.lookUp<{ organization: string }>(sql`
      SELECT organization FROM former_memberships(${session})`);
    return rows.map(({ organization }) => organization);
  }

  /** Where the person waits for an owner or admin. @param session the session's stored hash */
  waiting(session: Buffer | null): Promise<WaitingMembership[]> {
    return this.db.lookUp<WaitingMembership>(sql`
      SELECT organization_id AS "organizationId", organization, role, since, time_zone AS "timeZone", readdressed,
        children, contact
      FROM waiting_memberships(${session})`);
  }

  /** @throws Refused when nothing is pending */
  accept(organizationId: string, by: ActingPerson, as: MembershipOffer['as']): Promise<void> {
    return this.answer(organizationId, by, as, 'join', async (role) => {
      const accepted = await this.identities.accept(by.userId, as, false);
      if (accepted && (role === 'owner' || role === 'admin'))
        await this.notices.managerAdded(organizationId, by, by.userId, role);
      return accepted;
    });
  }

  /**
   * Tells the owners and admins. @param notMine a parent says that it is not their child @throws Refused when nothing is
   * pending, and for the last owner
   */
  decline(organizationId: string, by: ActingPerson, as: MembershipOffer['as'], notMine = false): Promise<void> {
    return this.answer(organizationId, by, as, 'decline_membership', async (role, name) => {
      // Whoever took an owner's login over belongs again once they accept.
      if (role === 'owner') await this.managers.requireAnotherOwner(by.userId);
      const children = as === 'parent' ? await this.targets.childrenOf(organizationId, by.userId, 'full_name') : [];
      const declined = await this.identities.decline(by.userId, as);
      const target = children.join(' and ') || null;
      const mail = { role, person: name, email: null, target, notMine: notMine && as === 'parent' };
      if (declined) await this.notices.declined(organizationId, mail);
      return declined;
    });
  }

  private answer(
    organizationId: string,
    by: ActingPerson,
    as: MembershipOffer['as'],
    operation: 'join' | 'decline_membership',
    work: (role: MembershipOffer['role'], name: string | null) => Promise<boolean>,
  ): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.lockOrganization(organizationId);
      const { userId } = by;
      await this.db.lockPeople(organizationId, [], [userId]);
      const identity = await this.identities.lock(userId);
      const offer = identity?.verified ? await this.pending(organizationId, userId, as) : undefined;
      const open = offer && (await work(offer.role, offer.name));
      // An offer to somebody else looks the same as one that was answered in another tab.
      if (!open) throw Refused.conflict('offer_closed', 'This invitation is no longer open.');
      // This also closes the account links that were mailed.
      await this.db.query(sql`
        UPDATE invites SET ${closedBy[operation]}, proof_hash = NULL WHERE organization_id = ${organizationId}
          AND scope = 'account' AND target_id = ${userId} AND accepted_at IS NULL AND revoked_at IS NULL`);
      await this.audit.add(organizationId, by, operation, { user_id: userId, as });
    });
  }

  /** What the organization offers, and the name that it supplied. */
  private async pending(organizationId: string, userId: string, as: MembershipOffer['as']) {
    const name = sql`supplied_first_name || ' ' || supplied_last_name AS name`;
    const [offer] = await this.db.query<Pick<MembershipOffer, 'role'> & { name: string | null }>(
      as === 'parent'
        ? sql`SELECT 'parent' AS role, ${name} FROM parents WHERE organization_id = ${organizationId} AND user_id = ${userId}
            AND status = 'pending' AND enrolled_at IS NOT NULL AND readdressed_at IS NULL`
        : sql`SELECT role, ${name} FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId}
            AND status = 'pending' AND approval_requested_at IS NULL`,
    );
    return offer;
  }
}

const closedBy = {
  join: sql`accepted_at = now()`,
  decline_membership: sql`revoked_at = now(), declined_at = now()`,
};
