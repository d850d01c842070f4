import { Injectable } from '@nestjs/common';
import sql, { empty, raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tables, type Tenant } from '@app/database';
import { Refused } from '@app/rules';
import { requireRole } from './staff.js';

/** Where people have places, the tables of both, and what a teacher is called there. */
const CLASSES = {
  classroom: { table: raw('classrooms'), places: raw('classroom_members'), id: raw('classroom_id') },
  group: { table: raw('student_groups'), places: raw('student_group_members'), id: raw('group_id') },
};

/** A classroom or a group. */
export interface ClassRef {
  kind: keyof typeof CLASSES;
  id: string;
}

/** As what somebody has a place: the teachers of a classroom, and the tutors of a group. */
export type ClassRole = 'teacher' | 'tutor' | 'student';

/** Adds people to classrooms and groups. One place per person: a stale one from before a change of role is reused. */
@Injectable()
export class ClassMembers {
  constructor(private readonly db: Database) {}

  /**
   * Gives an accepted member a place.
   *
   * @returns its id, and whether it is new
   * @throws Refused for an unknown class or person, and at `user_id` for a member with another role
   */
  async give(organizationId: string, ref: ClassRef, userId: string, as: ClassRole) {
    const [, [member]] = await Promise.all([
      this.db.lockPeople(organizationId, [userId]),
      this.db.query<Pick<Tables['members'], 'role'>>(sql`
        SELECT m.role FROM ${CLASSES[ref.kind].table} r JOIN members m ON m.organization_id = r.organization_id
        WHERE r.organization_id = ${organizationId} AND r.id = ${ref.id} AND NOT r.is_archived
          AND m.user_id = ${userId} AND m.status = 'accepted'`),
    ]);
    if (!member) throw Refused.notFound();
    requireRole(member.role, as === 'student' ? 'learn' : 'teach', 'user_id');
    return this.add(organizationId, ref, userId, as);
  }

  /** Who has a place, first those who came first. @throws Refused for an unknown class */
  async of(tenant: Tenant, { kind, id: classId }: ClassRef) {
    const { table, places, id } = CLASSES[kind];
    const own = sql`r.organization_id = ${tenant.organizationId} AND r.id = ${classId}`;
    const [known, members] = await this.db.read<
      [{ id: string }, { member_id: string; user_id: string; role: ClassRole; created_at: Date }]
    >(
      tenant,
      sql`SELECT r.id FROM ${table} r WHERE ${own}`,
      sql`SELECT p.id AS member_id, p.user_id, p.role, p.created_at FROM ${places} p JOIN ${table} r ON r.id = p.${id}
        WHERE ${own} ORDER BY p.created_at, p.id`,
    );
    if (known.length === 0) throw Refused.notFound();
    return members;
  }

  /** Locks them, so that a removal waits. @throws Refused for somebody who is not an accepted member, and at the field for a student */
  requireStaff(organizationId: string, tutorId: string, field = 'tutor_id'): Promise<void> {
    return this.requireMembers(organizationId, [tutorId], 'teach', () => [field]);
  }

  /** @throws Refused for somebody who is not an accepted member, and at the item of `student_ids` for one who teaches */
  requireStudents(organizationId: string, studentIds: string[]): Promise<void> {
    return this.requireMembers(organizationId, studentIds, 'learn', (index) => ['student_ids', index]);
  }

  private async requireMembers(
    organizationId: string,
    ids: string[],
    to: 'teach' | 'learn',
    at: (index: number) => (string | number)[],
  ): Promise<void> {
    const [, members] = await Promise.all([
      this.db.lockPeople(organizationId, ids),
      this.db.query<{ user_id: string; role: Tables['members']['role'] }>(sql`
        SELECT user_id, role FROM members
        WHERE organization_id = ${organizationId} AND user_id = ANY (${ids}::uuid[]) AND status = 'accepted'`),
    ]);
    const roles = new Map(members.map(({ user_id, role }) => [user_id, role]));
    if (!ids.every((id) => roles.has(id))) throw Refused.notFound();
    for (const [index, id] of ids.entries()) requireRole(roles.get(id)!, to, ...at(index));
  }

  /** Gives students places in a new group. */
  async addStudents(groupId: string, studentIds: string[]): Promise<void> {
    await this.db.query(sql`
      INSERT INTO student_group_members (id, group_id, user_id, role)
      SELECT place, ${groupId}, student, 'student'
      FROM unnest(${studentIds.map(() => uuidv7())}::uuid[], ${studentIds}::uuid[]) AS p (place, student)`);
  }

  /** Adds somebody who may have the place. @returns its id, and whether it is new */
  async add(organizationId: string, { kind, id: classId }: ClassRef, userId: string, as: ClassRole) {
    const { table, places, id } = CLASSES[kind];
    // A group's places have the organization of their group.
    const [column, value] = kind === 'classroom' ? [sql`organization_id, `, sql`${organizationId}, `] : [empty, empty];
    const changed = await this.db.query(sql`
      INSERT INTO ${places} AS p (${column}id, ${id}, user_id, role)
      VALUES (${value}${uuidv7()}, ${classId}, ${userId}, ${as})
      ON CONFLICT (${column}${id}, user_id) DO UPDATE SET role = excluded.role WHERE p.role <> excluded.role
      RETURNING p.id`);
    if (changed.length > 0 && kind === 'group') {
      // student_ids is part of the group's record.
      await this.db.query(sql`
        UPDATE student_groups SET updated_at = now() WHERE organization_id = ${organizationId} AND id = ${classId}`);
    }
    const [row] = await this.db.query<{ id: string }>(sql`
      SELECT p.id FROM ${places} p JOIN ${table} r ON r.id = p.${id}
      WHERE r.organization_id = ${organizationId} AND r.id = ${classId} AND p.user_id = ${userId}`);
    return { id: row!.id, changed: changed.length > 0 };
  }

  /** Takes somebody's place back. What they led is led by nobody. @returns whether they had it */
  async take(organizationId: string, { kind, id: classId }: ClassRef, userId: string, as: ClassRole): Promise<boolean> {
    const { table, places, id } = CLASSES[kind];
    await this.db.lockPeople(organizationId, [userId]);
    const taken = await this.db.query(sql`
      DELETE FROM ${places} p USING ${table} r WHERE r.organization_id = ${organizationId} AND r.id = ${classId}
        AND p.${id} = r.id AND p.user_id = ${userId} AND p.role = ${as} RETURNING p.id`);
    if (taken.length === 0) return false;
    if (kind === 'group') await this.own(organizationId, classId);
    await this.db.query(sql`
      UPDATE ${table} SET tutor_id = nullif(tutor_id, ${userId}), updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${classId}`);
    return true;
  }

  /** A group that nobody owned becomes the organization's: with another tutor, nobody would see it. */
  async own(organizationId: string, groupId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE student_groups g SET owner_organization_id = ${organizationId},
        classroom_id = (SELECT c.id FROM classrooms c WHERE c.organization_id = ${organizationId} AND c.id = g.classroom_id),
        subject_id = (SELECT s.id FROM subjects s WHERE s.organization_id = ${organizationId} AND s.id = g.subject_id)
      WHERE g.organization_id = ${organizationId} AND g.id = ${groupId} AND g.owner_organization_id IS NULL`);
  }

  /** Assigns a student to a tutor, once per subject and once without one. @returns the id, and whether it is new or active again */
  async withTutor(organizationId: string, tutorId: string, studentId: string, subjectId: string | null) {
    const changed = await this.db.query(sql`
      INSERT INTO tutor_students AS t (id, organization_id, tutor_id, student_id, subject_id)
      VALUES (${uuidv7()}, ${organizationId}, ${tutorId}, ${studentId}, ${subjectId})
      ON CONFLICT (organization_id, tutor_id, student_id, subject_id)
      DO UPDATE SET status = 'active', archived_at = NULL WHERE t.status <> 'active' RETURNING id`);
    const [relation] = await this.db.query<{ id: string }>(sql`
      SELECT id FROM tutor_students WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId}
        AND student_id = ${studentId} AND subject_id IS NOT DISTINCT FROM ${subjectId}::uuid`);
    return { id: relation!.id, changed: changed.length > 0 };
  }
}
