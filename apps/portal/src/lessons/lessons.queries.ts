import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, type Position, type SESSION, TAKES_PART, type VALUES } from '@app/database';
import { memberName, nameOf } from '../money/invoices.queries.js';

/** Which sessions are listed: those that have begun and are not completed, or those that are. */
export type SessionFilter = 'due' | 'completed';

/** A session as lists show it. */
export interface SessionRow {
  id: string;
  title: string | null;
  starts_at: Date;
  tutor_id: string | null;
  tutor: string | null;
  students: string[];
}

export interface SessionDetails extends Omit<SessionRow, 'students'> {
  status: (typeof SESSION.values)[number];
  subject: string | null;
  minutes: number;
  /** Whether it can be completed. */
  due: boolean;
  meeting_url: string | null;
  place: string | null;
  /** What it came to, in cents. */
  owed: number | null;
}

export type Attendance = (typeof VALUES)['lesson_participants']['attendance'][number];

/** A student who takes part. Amounts are cents as texts. */
export interface ParticipantRow {
  student_id: string;
  student: string | null;
  attendance: Attendance | null;
  rate: string | null;
  surcharge: string | null;
  billed: string | null;
}

/** Sessions that have begun and are still to be completed. Only scheduled ones are looked at: they are few, and indexed on their own. */
export const isDue = (organizationId: string): Sql =>
  sql`organization_id = ${organizationId} AND status = 'scheduled' AND starts_at <= now()`;

/** The sessions that have begun, the latest first. */
export function sessionsBegun(
  organizationId: string,
  filter: SessionFilter,
  before: Position | null,
  most: number,
): Sql {
  const which = filter === 'due' ? isDue(organizationId) : isCompleted(organizationId);
  return sql`
    WITH begun AS ${filter === 'due' ? sql`MATERIALIZED` : empty} (SELECT id, starts_at FROM sessions WHERE ${which})
    SELECT s.id, s.title, s.starts_at, s.tutor_id, ${memberName(organizationId, sql`s.tutor_id`)} AS tutor,
      ARRAY(SELECT ${nameOf} FROM lesson_participants p
        JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
        LEFT JOIN users u ON u.id = m.user_id
        WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND p.${TAKES_PART}
        ORDER BY p.created_at, p.student_id LIMIT 4) AS students
    FROM (SELECT id FROM begun WHERE true${behind(before, 'starts_at')} ORDER BY starts_at DESC, id DESC LIMIT ${most}) d
    JOIN sessions s ON s.organization_id = ${organizationId} AND s.id = d.id ORDER BY s.starts_at DESC, s.id DESC`;
}

/** Most sessions that have begun are: an index of these by their start finds the latest. */
const isCompleted = (organizationId: string): Sql =>
  sql`organization_id = ${organizationId} AND status = 'completed' AND starts_at <= now()`;

export const session = (organizationId: string, id: string): Sql => sql`
  SELECT s.id, s.title, s.status, s.starts_at, s.duration_minutes AS minutes, s.tutor_id,
    ${memberName(organizationId, sql`s.tutor_id`)} AS tutor, s.amount_owed_cents::float8 AS owed, s.meeting_url,
    (SELECT concat_ws(', ', l.label, l.suburb) FROM locations l WHERE l.organization_id = ${organizationId} AND l.id = s.location_id) AS place,
    s.status = 'scheduled' AND s.starts_at <= now() AS due,
    (SELECT name FROM subjects j WHERE j.organization_id = ${organizationId} AND j.id = s.subject_id) AS subject
  FROM sessions s WHERE s.organization_id = ${organizationId} AND s.id = ${id}`;

/** Who takes part in a session, and what each pays. */
export const participantsOf = (organizationId: string, sessionId: string): Sql => sql`
  SELECT p.student_id, ${nameOf} AS student, p.attendance, p.rate_cents::text AS rate, p.surcharge_cents::text AS surcharge,
    p.billed_cents::text AS billed
  FROM lesson_participants p JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
  LEFT JOIN users u ON u.id = m.user_id
  WHERE p.organization_id = ${organizationId} AND p.session_id = ${sessionId} AND p.${TAKES_PART}
  ORDER BY p.created_at, p.student_id`;
