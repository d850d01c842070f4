import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import { Families, InviteTargets, ClassMembers, type Identity } from '@app/people';
import { ClassLessons } from '@app/scheduling';
import type { OpenedInvite } from './opened-invites.js';

interface MembershipStatus {
  archivedAt: Date | null;
  waits: boolean;
  accepted: boolean;
  /** Whether their address was changed, and no manager has approved that yet. */
  moved: boolean;
}

const isClass = (scope: string): scope is 'classroom' | 'group' => scope === 'classroom' || scope === 'group';

type Granting = Pick<OpenedInvite, 'organizationId' | 'scope' | 'targetId' | 'subjectId'>;

/** The writes of joining, inside the ambient transaction. */
@Injectable()
export class JoinEffects {
  constructor(
    private readonly db: Database,
    private readonly classMembers: ClassMembers,
    private readonly families: Families,
    private readonly targets: InviteTargets,
    private readonly lessons: ClassLessons,
  ) {}

  /** Locks the lessons that {@link apply} adds somebody to, before their own rows. */
  async lockLessons({ organizationId, scope, targetId }: Granting): Promise<void> {
    if (isClass(scope)) await this.lessons.lock(organizationId, [targetId]);
  }

  /** When somebody was archived here (null if they are not), and whether they wait for approval to belong at all. */
  async status(organizationId: string, userId: string, asParent: boolean): Promise<MembershipStatus> {
    const [row] = await this.db.query<MembershipStatus>(
      asParent
        ? sql`SELECT CASE status WHEN 'archived' THEN created_at END AS "archivedAt", status = 'accepted' AS accepted,
            readdressed_at IS NOT NULL AS moved,
            status = 'pending' AND (readdressed_at IS NOT NULL OR enrolled_at IS NULL AND EXISTS (SELECT FROM joins j
              JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
              WHERE j.organization_id = p.organization_id AND j.user_id = p.user_id AND j.approval = 'waiting'
                AND i.role = 'parent')) AS waits FROM parents p
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`
        : sql`SELECT CASE status WHEN 'archived' THEN coalesce(archived_at, created_at) END AS "archivedAt",
            status = 'accepted' AS accepted, readdressed_at IS NOT NULL AS moved,
            approval_requested_at IS NOT NULL AS waits FROM members
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
    );
    return row ?? { archivedAt: null, waits: false, accepted: false, moved: false };
  }

  async tieParent(organizationId: string, { id, firstName, lastName, email }: Identity): Promise<void> {
    await this.db.query(sql`
      INSERT INTO parents (organization_id, user_id, status, supplied_first_name, supplied_last_name, supplied_email)
      VALUES (${organizationId}, ${id}, 'pending', ${firstName}, ${lastName}, ${email}) ON CONFLICT DO NOTHING`);
  }

  /** Adds the member, a tutor with a profile. @param waits until an owner or admin approves */
  async tieMember(invite: OpenedInvite, identity: Identity, waits: boolean): Promise<void> {
    const { organizationId, role, email: named } = invite;
    const { id, firstName, lastName, email } = identity;
    await this.db.query(sql`
      INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name,
        supplied_email, approval_requested_at)
      VALUES (${uuidv7()}, ${organizationId}, ${id}, ${role}, 'pending', ${firstName}, ${lastName}, ${email},
        CASE WHEN ${waits}::boolean THEN now() END)
      ON CONFLICT DO NOTHING`);
    if (role === 'tutor') {
      await this.db.query(sql`
        INSERT INTO tutor_profiles (organization_id, user_id) VALUES (${organizationId}, ${id}) ON CONFLICT DO NOTHING`);
    }
    if (named === null) return;
    // An invite to an address implies approval.
    await this.db.query(sql`
      UPDATE members SET approval_requested_at = NULL
      WHERE organization_id = ${organizationId} AND user_id = ${id} AND approval_requested_at IS NOT NULL`);
  }

  /** Adds an admin whom no owner has invited, or makes one who is not accepted wait. The caller has locked the organization. */
  async waitForOwner(invite: OpenedInvite, identity: Identity): Promise<false | 'new' | 'asked'> {
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

  /** Adds what the invite grants besides the membership: a place in a class and its upcoming lessons, a tutor, or a child. */
  async apply({ organizationId, scope, targetId, subjectId }: Granting, userId: string): Promise<void> {
    if (isClass(scope)) {
      const ref = { kind: scope, id: targetId };
      const { changed } = await this.classMembers.add(organizationId, ref, userId, 'student');
      if (changed) await this.lessons.join(organizationId, ref, userId);
    }
    if (scope === 'tutor_student') await this.classMembers.withTutor(organizationId, targetId, userId, subjectId);
    if (scope === 'parent') await this.families.link(organizationId, userId, targetId);
  }

  /** The same for an invite of some time ago, whose target may be gone. */
  async applyIfThere(invite: Granting, userId: string): Promise<void> {
    const { organizationId, scope, targetId } = invite;
    if (await this.targets.has(organizationId, scope, targetId)) await this.apply(invite, userId);
  }

  /** Closes an invite to one person, which works once, as does its proof. */
  async close({ id, organizationId, email }: OpenedInvite): Promise<void> {
    if (email === null) return;
    await this.db.query(sql`
      UPDATE invites SET accepted_at = now(), proof_hash = NULL WHERE organization_id = ${organizationId} AND id = ${id}`);
  }
}
