import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { ClassMembers, type ClassRef } from '@app/people';
import { ENDING } from './leaving.js';

/** As SQL, the open invites and links `i` to somebody, and those that only lead to them. They end with the membership. */
export function openInvitesOf(organizationId: string, userId: string): Sql {
  return sql`i.organization_id = ${organizationId} AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND NOT i.standing
    AND (i.user_id = ${userId} OR (i.scope IN ('account', 'parent', 'tutor_student') AND i.target_id = ${userId})
      OR lower(i.email) = (SELECT u.email_normalized FROM users u WHERE u.id = ${userId}))`;
}

/**
 * What people have in an organization beside their membership. Each method ends a part of it inside the ambient
 * transaction, and returns how many rows changed.
 */
@Injectable()
export class OffboardingSteps {
  constructor(
    private readonly db: Database,
    private readonly classMembers: ClassMembers,
  ) {}

  /** Locks the records that name these people, who are locked, and that end or change with them. */
  async lock(organizationId: string, userIds: string[]): Promise<void> {
    await this.db.query(sql`
      SELECT FROM booking_requests WHERE organization_id = ${organizationId} AND student_id = ANY (${userIds}::uuid[])
        AND status = 'pending' ORDER BY id FOR UPDATE`);
    await this.db.query(sql`
      SELECT FROM leads WHERE organization_id = ${organizationId} AND assigned_tutor_id = ANY (${userIds}::uuid[])
      ORDER BY id FOR UPDATE`);
  }

  /** Ends the rows for which {@link LEAVING} has a statement. @returns how many of each table */
  async rows(organizationId: string, userId: string, as: 'member' | 'parent'): Promise<Record<string, number>> {
    const ended: Record<string, number> = {};
    for (const { table, column, open, by } of ENDING.filter((one) => one.as === as)) {
      const count = await this.count(sql`${raw(by)} WHERE organization_id = ${organizationId}
        AND ${raw(column)} = ${userId} AND (${raw(open)})`);
      ended[table] = (ended[table] ?? 0) + count;
    }
    return ended;
  }

  /** The children of a parent, who is locked: nobody links another one meanwhile. */
  async children(organizationId: string, parentId: string): Promise<string[]> {
    const links = await this.db.query<{ student_id: string }>(sql`
      SELECT student_id FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${parentId}`);
    return links.map(({ student_id: id }) => id);
  }

  async unlink(organizationId: string, parentId: string, studentId: string): Promise<void> {
    await this.db
      .query(sql`DELETE FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${parentId}
      AND student_id = ${studentId}`);
  }

  /** Of groups that the organization sees. student_ids is part of the group's record, so the group changes too. */
  async groups(organizationId: string, userId: string): Promise<number> {
    const left = await this.db.query<{ group_id: string }>(sql`
      WITH left_groups AS (
        DELETE FROM student_group_members p USING student_groups g
        WHERE g.organization_id = ${organizationId} AND g.id = p.group_id AND p.user_id = ${userId} RETURNING p.group_id)
      SELECT group_id FROM left_groups`);
    return this.count(sql`
      UPDATE student_groups SET updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ANY (${left.map(({ group_id: id }) => id)})`);
  }

  /**
   * Classrooms and groups that somebody leads go to another tutor, or to nobody. A group that nobody owned becomes the
   * organization's: without its tutor, nobody would see it.
   */
  async led(organizationId: string, userId: string, successor: string | null): Promise<void> {
    const classrooms = await this.db.query<{ id: string }>(sql`
      WITH led AS (
        UPDATE classrooms SET tutor_id = ${successor}, updated_at = now()
        WHERE organization_id = ${organizationId} AND tutor_id = ${userId} RETURNING id)
      SELECT id FROM led`);
    const groups = await this.db.query<{ id: string }>(sql`
      WITH led AS (
        UPDATE student_groups g SET owner_organization_id = ${organizationId}, tutor_id = ${successor}, updated_at = now(),
          classroom_id = (SELECT c.id FROM classrooms c WHERE c.organization_id = ${organizationId} AND c.id = g.classroom_id),
          subject_id = (SELECT s.id FROM subjects s WHERE s.organization_id = ${organizationId} AND s.id = g.subject_id)
        WHERE g.organization_id = ${organizationId} AND g.tutor_id = ${userId} RETURNING g.id)
      SELECT id FROM led`);
    if (successor === null) return;
    const classes: ClassRef[] = [
      ...classrooms.map(({ id }) => ({ kind: 'classroom' as const, id })),
      ...groups.map(({ id }) => ({ kind: 'group' as const, id })),
    ];
    for (const ref of classes)
      await this.classMembers.add(organizationId, ref, successor, ref.kind === 'classroom' ? 'teacher' : 'tutor');
  }

  /** Conversations with people of this organization alone. What was written stays. */
  async conversations(userIds: string[]): Promise<void> {
    await this.db.query(sql`SELECT leave_conversations(${userIds}::uuid[])`);
  }

  /** What somebody waits for an approval of, and what others wait for to be their parent. */
  async requests(organizationId: string, userId: string): Promise<void> {
    await this.db.query(sql`
      DELETE FROM joins WHERE organization_id = ${organizationId} AND approval = 'waiting' AND (user_id = ${userId}
        OR invite_id IN (SELECT id FROM invites WHERE organization_id = ${organizationId} AND scope = 'parent'
          AND target_id = ${userId}))`);
  }

  /** The links to their account that a parent was mailed. */
  accountLinks(organizationId: string, parentId: string): Promise<number> {
    return this.count(sql`
      UPDATE invites SET revoked_at = now() WHERE organization_id = ${organizationId} AND scope = 'account'
        AND role = 'parent' AND target_id = ${parentId} AND accepted_at IS NULL AND revoked_at IS NULL`);
  }

  invites(organizationId: string, userId: string): Promise<number> {
    return this.count(sql`UPDATE invites i SET revoked_at = now() WHERE ${openInvitesOf(organizationId, userId)}`);
  }

  private async count(statement: Sql): Promise<number> {
    const rows = await this.db.query(sql`WITH changed AS (${statement} RETURNING 1) SELECT FROM changed`);
    return rows.length;
  }
}
