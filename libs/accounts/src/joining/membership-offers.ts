import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { type ActingPerson, AuditLog, type Operation } from '@app/audit';
import { Logins } from '@app/people';
import { Refused } from '@app/rules';
import { Identities } from './identities.js';

/** A membership that an organization offers and that the person has not answered yet. */
export interface MembershipOffer {
  organizationId: string;
  organization: string;
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  as: 'member' | 'parent';
}

/** Pending memberships of people with a proven address: what an invite by mail offers, without the mail. */
@Injectable()
export class MembershipOffers {
  constructor(
    private readonly db: Database,
    private readonly identities: Identities,
    private readonly logins: Logins,
    private readonly audit: AuditLog,
  ) {}

  /** @param session the session's stored hash; the list is empty unless the address is proven */
  list(session: Buffer | null): Promise<MembershipOffer[]> {
    return this.db.lookUp<MembershipOffer>(sql`
      SELECT organization_id AS "organizationId", organization, role, CASE WHEN as_parent THEN 'parent' ELSE 'member' END AS as
      FROM membership_offers(${session})`);
  }

  /** @throws Refused when nothing is pending */
  accept(organizationId: string, by: ActingPerson, as: MembershipOffer['as']): Promise<void> {
    return this.answer(organizationId, by, as, 'join', () => this.identities.accept(by.userId, as, false));
  }

  /** @throws Refused when nothing is pending */
  decline(organizationId: string, by: ActingPerson, as: MembershipOffer['as']): Promise<void> {
    return this.answer(organizationId, by, as, 'decline_membership', () => this.identities.decline(by.userId, as));
  }

  private answer(
    organizationId: string,
    by: ActingPerson,
    as: MembershipOffer['as'],
    operation: Operation,
    work: () => Promise<boolean>,
  ): Promise<void> {
    return this.db.transaction({ organizationId }, async () => {
      await this.logins.holdOrganization(organizationId);
      const { userId } = by;
      const identity = await this.identities.hold(userId);
      const open = identity?.verified && (await this.waits(organizationId, userId, as)) && (await work());
      // An offer to somebody else looks the same as one that was answered in another tab.
      if (!open) throw Refused.conflict('offer_closed', 'This invitation is no longer open.');
      // This also closes the account links that were mailed.
      await this.db.query(sql`
        UPDATE invites SET accepted_at = now(), proof_hash = NULL WHERE organization_id = ${organizationId}
          AND scope = 'account' AND target_id = ${userId} AND accepted_at IS NULL AND revoked_at IS NULL`);
      await this.audit.add(organizationId, by, operation, { user_id: userId, as });
    });
  }

  private async waits(organizationId: string, userId: string, as: MembershipOffer['as']): Promise<boolean> {
    const rows = await this.db.query(
      as === 'parent'
        ? sql`SELECT FROM parents WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
            AND enrolled_at IS NOT NULL`
        : sql`SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'pending'
            AND approval_requested_at IS NULL`,
    );
    return rows.length > 0;
  }
}
