import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';

/**
 * Adds accepted members to classrooms and groups inside the ambient transaction. One place per person: a stale one from
 * before a change of role is reused.
 */
@Injectable()
export class Places {
  constructor(private readonly db: Database) {}

  /** @returns the id of the seat */
  async inClassroom(
    organizationId: string,
    classroomId: string,
    userId: string,
    seat: 'teacher' | 'student',
  ): Promise<string> {
    await this.db.query(sql`
      INSERT INTO classroom_members AS m (id, organization_id, classroom_id, user_id, role)
      VALUES (${uuidv7()}, ${organizationId}, ${classroomId}, ${userId}, ${seat})
      ON CONFLICT (classroom_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role`);
    const [row] = await this.db.query<{ id: string }>(sql`
      SELECT id FROM classroom_members
      WHERE organization_id = ${organizationId} AND classroom_id = ${classroomId} AND user_id = ${userId}`);
    return row!.id;
  }

  /** @returns the id of the place */
  async inGroup(organizationId: string, groupId: string, userId: string, place: 'tutor' | 'student'): Promise<string> {
    const changed = await this.db.query(sql`
      INSERT INTO student_group_members AS m (id, group_id, user_id, role)
      VALUES (${uuidv7()}, ${groupId}, ${userId}, ${place})
      ON CONFLICT (group_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role
      RETURNING m.id`);
    if (changed.length > 0) {
      // student_ids is part of the group's record.
      await this.db.query(sql`
        UPDATE student_groups SET updated_at = now() WHERE organization_id = ${organizationId} AND id = ${groupId}`);
    }
    const [row] = await this.db.query<{ id: string }>(sql`
      SELECT id FROM student_group_members WHERE group_id = ${groupId} AND user_id = ${userId}`);
    return row!.id;
  }

  /** Assigns a student to a tutor, once per subject and once without one. */
  async withTutor(organizationId: string, tutorId: string, studentId: string, subjectId: string | null): Promise<void> {
    await this.db.query(sql`
      INSERT INTO tutor_students AS t (id, organization_id, tutor_id, student_id, subject_id)
      VALUES (${uuidv7()}, ${organizationId}, ${tutorId}, ${studentId}, ${subjectId})
      ON CONFLICT (organization_id, tutor_id, student_id, subject_id)
      DO UPDATE SET status = 'active', archived_at = NULL WHERE t.status <> 'active'`);
  }
}
