import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { lockRecord, TAKES_PART, type Tables } from '@app/database';
import { Rows, type RowTable, type Values } from '@app/rows';
import { Refused } from '@app/rules';

export const FEEDBACK: RowTable = { table: 'session_feedback' };

interface Reviewer {
  known: boolean;
  role: 'student' | 'parent' | null;
  said: boolean;
}

/** Records what students and parents say about lessons. */
@Injectable()
export class Feedback extends Rows {
  /** About the tutor of a completed session. @throws Refused for an unknown session or reviewer, one who has no part in it, and a second time */
  override async add(organizationId: string, kind: RowTable, values: Values): Promise<string> {
    const [session, reviewer] = [String(values.session_id), String(values.reviewer_id)];
    const { status, tutor_id } = await lockRecord<{ status: Tables['sessions']['status']; tutor_id: string | null }>(
      this.db, 'sessions', organizationId, session, sql`status, tutor_id`,
    ); // prettier-ignore
    const own = sql`organization_id = ${organizationId}`;
    const students = sql`SELECT student_id FROM lesson_participants WHERE ${own} AND session_id = ${session} AND ${TAKES_PART}`;
    const [look] = await this.db.query<Reviewer>(sql`
      SELECT CASE WHEN m.id IS NOT NULL AND ${reviewer}::uuid IN (${students}) THEN 'student'
          WHEN p.id IS NOT NULL AND EXISTS (SELECT FROM parent_students
            WHERE ${own} AND parent_id = ${reviewer} AND student_id IN (${students})) THEN 'parent' END AS role,
        m.id IS NOT NULL OR p.id IS NOT NULL AS known,
        EXISTS (SELECT FROM session_feedback WHERE ${own} AND session_id = ${session} AND reviewer_id = ${reviewer}) AS said
      FROM (SELECT (SELECT user_id FROM members WHERE ${own} AND user_id = ${reviewer} AND status = 'accepted') AS id) m,
        (SELECT (SELECT user_id FROM parents WHERE ${own} AND user_id = ${reviewer} AND status = 'accepted') AS id) p`);
    const { known, role, said } = look!;
    if (!known) throw Refused.notFound();
    if (status !== 'completed' || !tutor_id) throw Refused.invalid('The session is not completed.', 'session_id');
    if (!role)
      throw Refused.invalid('Neither takes part in the session nor is a parent of one who does.', 'reviewer_id');
    if (said) throw Refused.invalid('Has given feedback on this session before.', 'reviewer_id');
    return super.add(organizationId, kind, { ...values, tutor_id, reviewer_role: role });
  }

  /** Whether it is public is its author's choice, which others can only take back. @throws Refused for unknown feedback */
  override async change(organizationId: string, kind: RowTable, id: string, values: Values): Promise<boolean> {
    const columns = sql`is_public`;
    const stored = await lockRecord<{ is_public: boolean }>(this.db, 'session_feedback', organizationId, id, columns);
    if (values.is_public === true && !stored.is_public)
      throw Refused.invalid('Only its author can make it public, when giving it.', 'is_public');
    return super.change(organizationId, kind, id, values);
  }
}
