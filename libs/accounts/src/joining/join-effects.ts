import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { Families, Places } from '@app/people';
import type { Identity } from './identities.js';
import type { OpenedInvite } from './opened-invites.js';

interface Standing {
  archivedAt: Date | null;
  waits: boolean;
  accepted: boolean;
}

/** The writes of joining, inside the ambient transaction. */
@Injectable()
export class JoinEffects {
  constructor(
    private readonly db: Database,
    private readonly places: Places,
    private readonly families: Families,
  ) {}

  /** When somebody was archived here (null if they are not), and whether they wait for approval. */
  async standing(organizationId: string, userId: string, asParent: boolean): Promise<Standing> {
    const [row] = await this.db.query<Standing>(
      asParent
        ? sql`SELECT CASE status WHEN 'archived' THEN created_at END AS "archivedAt", false AS waits,
            status = 'accepted' AS accepted FROM parents
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`
        : sql`SELECT CASE status WHEN 'archived' THEN coalesce(archived_at, created_at) END AS "archivedAt",
            approval_requested_at IS NOT NULL AS waits, status = 'accepted' AS accepted FROM members
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
    );
    return row ?? { archivedAt: null, waits: false, accepted: false };
  }

  async tieParent(organizationId: string, { id, firstName, lastName, email }: Identity): Promise<void> {
    await this.db.query(sql`
      INSERT INTO parents (organization_id, user_id, status, supplied_first_name, supplied_last_name, supplied_email)
      VALUES (${organizationId}, ${id}, 'pending', ${firstName}, ${lastName}, ${email}) ON CONFLICT DO NOTHING`);
  }

  /** Adds the member, a tutor with a profile. @returns whether a tutor who came by a code needs approval, and has been `asked` before */
  async tieMember(invite: OpenedInvite, identity: Identity, newcomer: boolean): Promise<false | 'new' | 'asked'> {
    const { organizationId, role, email: named } = invite;
    const { id, firstName, lastName, email } = identity;
    if (invite.needsOwner) return this.waitForOwner(invite, identity);
    const asks = newcomer && role === 'tutor' && named === null;
    await this.db.query(sql`
      INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name,
        supplied_email, approval_requested_at)
      VALUES (${uuidv7()}, ${organizationId}, ${id}, ${role}, 'pending', ${firstName}, ${lastName}, ${email},
        CASE WHEN ${asks}::boolean THEN now() END)
      ON CONFLICT DO NOTHING`);
    if (role === 'tutor') {
      await this.db.query(sql`
        INSERT INTO tutor_profiles (organization_id, user_id) VALUES (${organizationId}, ${id}) ON CONFLICT DO NOTHING`);
    }
    if (asks) return 'new';
    if (named === null) {
      const [waiting] = await this.db.query(sql`
        SELECT FROM members
        WHERE organization_id = ${organizationId} AND user_id = ${id} AND approval_requested_at IS NOT NULL`);
      return waiting ? 'asked' : false;
    }
    // An invite to an address implies approval.
    await this.db.query(sql`
      UPDATE members SET approval_requested_at = NULL
      WHERE organization_id = ${organizationId} AND user_id = ${id} AND approval_requested_at IS NOT NULL`);
    return false;
  }

  /** Adds an admin whom no owner has invited, or makes one who is not accepted wait. The caller holds the organization. */
  private async waitForOwner(invite: OpenedInvite, identity: Identity): Promise<false | 'new' | 'asked'> {
    const { organizationId, role } = invite;
    const { id, firstName, lastName, email } = identity;
    const [member] = await this.db.query<{ accepted: boolean; waits: boolean }>(sql`
      SELECT status = 'accepted' AS accepted, approval_requested_at IS NOT NULL AS waits FROM members
      WHERE organization_id = ${organizationId} AND user_id = ${id}`);
    if (member?.accepted) return false;
    if (member?.waits) return 'asked';
    await this.db.query(sql`
      INSERT INTO members AS m (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name,
        supplied_email, approval_requested_at)
      VALUES (${uuidv7()}, ${organizationId}, ${id}, ${role}, 'pending', ${firstName}, ${lastName}, ${email}, now())
      ON CONFLICT (organization_id, user_id) DO UPDATE SET status = 'pending', archived_at = NULL,
        supplied_first_name = excluded.supplied_first_name, supplied_last_name = excluded.supplied_last_name,
        supplied_email = excluded.supplied_email, approval_requested_at = now()`);
    return 'new';
  }

  /** Adds what the invite grants besides the membership: a place, a tutor or a child. */
  async apply({ organizationId, scope, targetId, subjectId }: OpenedInvite, userId: string): Promise<void> {
    if (scope === 'classroom' || scope === 'group') {
      await this.places.add(organizationId, { kind: scope, id: targetId }, userId, 'student');
    }
    if (scope === 'tutor_student') await this.places.withTutor(organizationId, targetId, userId, subjectId);
    if (scope === 'parent') await this.families.link(organizationId, userId, targetId);
  }

  /** Closes an invite to one person, which works once, as does its proof. */
  async close({ id, organizationId, email }: OpenedInvite): Promise<void> {
    if (email === null) return;
    await this.db.query(sql`
      UPDATE invites SET accepted_at = now(), proof_hash = NULL WHERE organization_id = ${organizationId} AND id = ${id}`);
  }
}
