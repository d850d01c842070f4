import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, findId, IS_STAFF } from '@app/database';
import { ClassMembers, requireRole } from '@app/people';
import { Refused } from '@app/rules';

/** Says which tutor teaches which student, in the ambient transaction. */
@Injectable()
export class TutorStudents {
  constructor(
    private readonly db: Database,
    private readonly members: ClassMembers,
  ) {}

  /** @returns the relation's id, and whether it is new or active again @throws Refused for unknown people or subjects, and for another role */
  async relate(organizationId: string, tutorId: string, studentId: string, subject: string | null) {
    const subjectId = await findId(this.db, 'subjects', organizationId, subject);
    await this.db.lockPeople(organizationId, [tutorId, studentId]);
    const here = sql`SELECT role FROM members WHERE organization_id = ${organizationId} AND status = 'accepted'`;
    const [look] = await this.db.query<Record<'tutor' | 'student', Parameters<typeof requireRole>[0] | null>>(sql`
      SELECT (${here} AND user_id = ${tutorId} AND ${IS_STAFF}) AS tutor, (${here} AND user_id = ${studentId}) AS student`);
    const { tutor, student } = look!;
    if (!tutor || !student) throw Refused.notFound();
    requireRole(student, 'learn', 'student_id');
    return this.members.withTutor(organizationId, tutorId, studentId, subjectId);
  }

  /** In every subject. @throws Refused for a pair that is not related */
  async part(organizationId: string, tutorId: string, studentId: string): Promise<void> {
    await this.db.lockPeople(organizationId, [tutorId, studentId]);
    const parted = await this.db.query(sql`
      UPDATE tutor_students SET status = 'archived', archived_at = now() WHERE organization_id = ${organizationId}
        AND tutor_id = ${tutorId} AND student_id = ${studentId} AND status = 'active' RETURNING id`);
    if (parted.length === 0) throw Refused.notFound();
  }
}
