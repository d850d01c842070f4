import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { LAST_INSTANT } from './overlap.js';
import { IS_STAFF, type SESSION, TAKES_PART, type VALUES, visiblePerson } from '@app/database';

/**
 * A lesson as somebody may see it: whoever teaches it, takes part, or is a parent of somebody who does. Never a price, a whole
 * name of anybody else, another family's child, or a street.
 */
export interface SeenLesson {
  id: string;
  startsAt: Date;
  endsAt: Date;
  status: (typeof SESSION.values)[number];
  /** Grows with each change of the lesson. */
  sequence: number;
  changedAt: Date;
  title: string | null;
  subject: string | null;
  teaches: boolean;
  /** First names: of all students, for whoever teaches it; of their own children, for a parent. */
  students: string[];
  /** First name and initial, for everybody else. */
  tutor: string | null;
  meetingUrl: string | null;
  /** What the place is called, and its suburb. */
  place: string | null;
}

/** The times of the lessons that are looked for, and how many at most. */
export interface Reach {
  from: Date;
  to: Date;
  most: number;
  /** Only this one. */
  id?: string;
}

/** Who takes part, as whoever teaches the lesson knows them. */
export interface SeenStudent {
  student_id: string;
  student: string;
  attendance: (typeof VALUES)['lesson_participants']['attendance'][number] | null;
}

/** How long a lesson that was cancelled is still shown so. */
const CANCELLED_DAYS = 30;

/** How long before a lesson whoever teaches it is told where it is (hours). */
const PLACE_HOURS = 24;

const NAME = (alias: string) => raw(visiblePerson(alias).first_name);
const INITIAL = raw(`left(${visiblePerson('t').last_name}, 1) || '.'`);

/** Whether somebody may see lessons at all: accepted members, and accepted parents while they have a link to a child. */
export const maySeeLessons = (organizationId: string, userId: string): Sql => sql`
  EXISTS (SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'accepted')
  OR EXISTS (SELECT FROM parents p JOIN parent_students l ON l.organization_id = p.organization_id AND l.parent_id = p.user_id
    WHERE p.organization_id = ${organizationId} AND p.user_id = ${userId} AND p.status = 'accepted')`;

/** SQL: as whom somebody sees what is about learning: an accepted student themselves, an accepted parent their children, with their first names. */
export const learners = (organizationId: string, userId: string): Sql => sql`
  SELECT m.user_id AS id, NULL AS name FROM members m
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND m.role = 'student' AND m.status = 'accepted'
  UNION ALL SELECT m.user_id, ${NAME('m')} FROM parents r
  JOIN parent_students l ON l.organization_id = r.organization_id AND l.parent_id = r.user_id
  JOIN members m ON m.organization_id = l.organization_id AND m.user_id = l.student_id AND m.status <> 'archived'
  LEFT JOIN users u ON u.id = m.user_id
  WHERE r.organization_id = ${organizationId} AND r.user_id = ${userId} AND r.status = 'accepted'`;

/** The lessons that somebody may see, by their start. */
export function seenLessons(organizationId: string, userId: string, { from, to, most, id }: Reach): Sql {
  const only = id ? sql` AND s.id = ${id}` : empty;
  const within = sql`s.organization_id = ${organizationId} AND s.starts_at >= ${from.toISOString()} AND s.starts_at < ${to.toISOString()}${only}`;
  const lately = sql`s.status = 'cancelled' AND s.cancelled_at > now() - ${`${CANCELLED_DAYS} days`}::interval`;
  const own = sql`s.tutor_id = ${userId} AND EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId}
    AND m.user_id = ${userId} AND m.status = 'accepted' AND m.${IS_STAFF})`;
  return sql`
    WITH learning AS (${learners(organizationId, userId)}),
    seen AS (
      SELECT s.id, true AS teaches, NULL::text[] AS children FROM sessions s WHERE ${within} AND ${own} AND s.status <> 'cancelled'
      UNION ALL SELECT s.id, true, NULL FROM sessions s WHERE ${within} AND ${own} AND ${lately}
      UNION ALL SELECT s.id, false, array_agg(n.name ORDER BY n.name, n.id) FILTER (WHERE n.name IS NOT NULL)
      FROM learning n JOIN lesson_participants p ON p.organization_id = ${organizationId} AND p.student_id = n.id
      JOIN sessions s ON s.organization_id = p.organization_id AND s.id = p.session_id
      WHERE ${within} AND ((p.${TAKES_PART} AND s.status <> 'cancelled') OR (p.status = 'cancelled' AND ${lately}))
      GROUP BY s.id),
    once AS (SELECT DISTINCT ON (id) * FROM seen ORDER BY id, teaches DESC)
    SELECT s.id, s.starts_at AS "startsAt", s.ends_at AS "endsAt", s.status, s.feed_sequence AS sequence, s.updated_at AS "changedAt",
      s.title, j.name AS subject, o.teaches, CASE WHEN o.teaches THEN ARRAY(SELECT ${NAME('m')} FROM lesson_participants p
        JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id LEFT JOIN users u ON u.id = m.user_id
        WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.status NOT IN ('declined', 'removed')
          AND (p.status <> 'cancelled' OR s.status = 'cancelled')
        ORDER BY p.created_at, p.student_id) ELSE coalesce(o.children, '{}') END AS students,
      CASE WHEN NOT o.teaches THEN concat_ws(' ', ${NAME('t')}, ${INITIAL}) END AS tutor,
      CASE WHEN p.shown THEN s.meeting_url END AS "meetingUrl",
      CASE WHEN p.shown THEN nullif(concat_ws(', ', l.label, l.suburb), '') END AS place
    FROM once o JOIN sessions s ON s.organization_id = ${organizationId} AND s.id = o.id
    LEFT JOIN subjects j ON j.organization_id = s.organization_id AND j.id = s.subject_id
    LEFT JOIN locations l ON l.organization_id = s.organization_id AND l.id = s.location_id
    LEFT JOIN members t ON t.organization_id = s.organization_id AND t.user_id = s.tutor_id
    LEFT JOIN users u ON u.id = t.user_id,
    LATERAL (SELECT NOT o.teaches OR s.starts_at < now() + ${`${PLACE_HOURS} hours`}::interval AS shown) p
    ORDER BY s.starts_at, s.id LIMIT ${most}`;
}

/** One of them, if they may see it. */
export const seenLesson = (organizationId: string, userId: string, id: string): Sql =>
  seenLessons(organizationId, userId, { from: new Date(0), to: LAST_INSTANT, most: 1, id });

/** Who takes part in a lesson, for whoever teaches it. */
export const seenStudents = (organizationId: string, tutorId: string, id: string): Sql => sql`
  SELECT p.student_id, concat_ws(' ', ${NAME('m')}, ${raw(visiblePerson('m').last_name)}) AS student, p.attendance
  FROM sessions s JOIN lesson_participants p ON p.organization_id = s.organization_id AND p.session_id = s.id AND p.${TAKES_PART}
  JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id LEFT JOIN users u ON u.id = m.user_id
  WHERE s.organization_id = ${organizationId} AND s.id = ${id} AND s.tutor_id = ${tutorId}
  ORDER BY p.created_at, p.student_id`;

/** The same of lessons that have been deleted: their times alone. */
export const removedLessons = (organizationId: string, userId: string, { from, to, most }: Reach): Sql => sql`
  SELECT DISTINCT ON (r.session_id) r.session_id AS id, r.starts_at AS "startsAt", r.ends_at AS "endsAt", 'cancelled' AS status,
    r.feed_sequence AS sequence, r.removed_at AS "changedAt", NULL AS title, NULL AS subject, false AS teaches, '{}'::text[] AS students,
    NULL AS tutor, NULL AS "meetingUrl", NULL AS place
  FROM removed_sessions r WHERE r.organization_id = ${organizationId} AND r.user_id IN (SELECT ${userId}::uuid
    UNION ALL SELECT l.student_id FROM parent_students l WHERE l.organization_id = ${organizationId} AND l.parent_id = ${userId})
    AND r.starts_at >= ${from.toISOString()} AND r.starts_at < ${to.toISOString()}
    AND r.removed_at > now() - ${`${CANCELLED_DAYS} days`}::interval
  ORDER BY r.session_id LIMIT ${most}`;
