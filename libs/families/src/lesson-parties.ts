import sql, { type Sql } from 'sql-template-tag';
import { TAKES_PART } from '@app/database';

/**
 * SQL: whom each lesson ahead is news for, and what they may know of it: `session_id`, `user_id`, `starts_at`, `known`. The tutor; the accepted parents of
 * those who take part, each with their own children; and students without parents here. Nobody learns of other participants.
 *
 * @param which about the session `s`
 */
export const partiesOf = (organizationId: string, which: Sql): Sql => sql`
  SELECT DISTINCT ON (session_id, user_id) * FROM (
    SELECT s.id AS session_id, s.tutor_id AS user_id, 1 AS rank, s.starts_at, ${knownOf(sql`NULL::uuid[]`, sql`NULL::uuid`)} AS known
    FROM sessions s JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = s.tutor_id AND m.status = 'accepted'
    WHERE ${aheadIn(organizationId, which)}
    UNION ALL
    SELECT s.id, f.user_id, 2, s.starts_at, ${knownOf(sql`f.students`, sql`s.location_id`)}
    FROM sessions s CROSS JOIN LATERAL (
      SELECT coalesce(p.user_id, m.user_id) AS user_id, array_agg(lp.student_id ORDER BY lp.student_id) AS students
      FROM lesson_participants lp
      JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = lp.student_id AND m.status = 'accepted'
      LEFT JOIN parent_students l ON l.organization_id = ${organizationId} AND l.student_id = lp.student_id
      LEFT JOIN parents p ON p.organization_id = ${organizationId} AND p.user_id = l.parent_id AND p.status = 'accepted'
      WHERE lp.organization_id = ${organizationId} AND lp.session_id = s.id AND lp.${TAKES_PART} AND (p.user_id IS NOT NULL OR l.parent_id IS NULL)
      GROUP BY 1) f
    WHERE ${aheadIn(organizationId, which)}) party
  ORDER BY session_id, user_id, rank`;

const aheadIn = (organizationId: string, which: Sql): Sql =>
  sql`s.organization_id = ${organizationId} AND s.status = 'scheduled' AND s.starts_at > clock_timestamp()::timestamptz(3) AND ${which}`;

const knownOf = (students: Sql, place: Sql): Sql =>
  sql`jsonb_build_object('at', s.starts_at, 'until', s.ends_at, 'tutor', s.tutor_id, 'subject', s.subject_id, 'mode', s.mode,
    'url', s.meeting_url, 'place', ${place}, 'students', ${students})`;

const TOLD = sql`coalesce(t.told, t.doubts -> 0)`;

/**
 * SQL: whether somebody `t.user_id` who was told `t.told`, or perhaps `t.doubts`, still has to do with it, so that its end is news for them: an accepted tutor,
 * a parent of one of the children, or the student, who is told as long as no parent is.
 */
export const stillConcerned = (organizationId: string): Sql => sql`CASE WHEN ${TOLD} -> 'students' = 'null'
  THEN EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = t.user_id AND m.status = 'accepted' AND m.role <> 'student')
  ELSE EXISTS (SELECT FROM jsonb_array_elements_text(${TOLD} -> 'students') c (id)
    LEFT JOIN parent_students l ON l.organization_id = ${organizationId} AND l.student_id = c.id::uuid
    LEFT JOIN parents p ON p.organization_id = ${organizationId} AND p.user_id = l.parent_id AND p.status = 'accepted'
    JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = c.id::uuid AND m.status = 'accepted'
    WHERE CASE WHEN l.parent_id IS NULL THEN c.id::uuid ELSE p.user_id END = t.user_id) END`;
