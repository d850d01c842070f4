import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, IS_STAFF, type Position, type SESSION, TAKES_PART, type VALUES } from '@app/database';
import { memberName, nameOf } from '../money/invoices.queries.js';
import type { LessonFilter } from './lessons.filter.js';

/** A lesson as lists show it. */
export interface LessonRow {
  id: string;
  title: string | null;
  subject: string | null;
  status: (typeof SESSION.values)[number];
  starts_at: Date;
  ends_at: Date;
  tutor_id: string | null;
  tutor: string | null;
  /** The first of those who take part, and one more if there are others. */
  students: string[];
}

export interface LessonDetails extends Omit<LessonRow, 'students' | 'ends_at'> {
  minutes: number;
  /** Whether it can be completed. */
  due: boolean;
  meeting_url: string | null;
  place: string | null;
  /** What it came to, in cents. */
  owed: number | null;
  /** What part of its price was charged for canceling it, in percent. */
  charged: number;
  reason: string | null;
  series_id: string | null;
  series_detached: boolean;
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
  /** Whether it was canceled with the lesson. */
  cancelled: boolean;
}

export interface PersonChoice {
  id: string;
  name: string | null;
}

/** How many names of students a list shows. */
export const MOST_STUDENTS = 2;

/** How many lessons are looked at for clashes at a time. */
export const LOOKED_AT = 500;

/** Lessons that have begun and are still to be completed. Only scheduled ones are looked at: they are few, and indexed on their own. */
export const isDue = (organizationId: string): Sql =>
  sql`organization_id = ${organizationId} AND status = 'scheduled' AND starts_at <= now()`;

/** Lessons that nobody has held, completed or canceled yet. */
const UPCOMING = sql`status IN ('pending', 'scheduled') AND starts_at > now()`;

const ofTutor = (tutor: string | null): Sql => (tutor === null ? empty : sql` AND tutor_id = ${tutor}`);

const ahead = (after: Position | null): Sql =>
  after ? sql` AND (starts_at, id) > (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)` : empty;

/** What lists show of the lessons that a statement with their ids finds. */
const rowsOf = (organizationId: string, ids: Sql, order: Sql): Sql => sql`
  SELECT s.id, s.title, s.status, s.starts_at, s.ends_at, s.tutor_id, ${memberName(organizationId, sql`s.tutor_id`)} AS tutor,
    (SELECT name FROM subjects j WHERE j.organization_id = ${organizationId} AND j.id = s.subject_id) AS subject,
    ARRAY(SELECT ${nameOf} FROM lesson_participants p
      JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
      LEFT JOIN users u ON u.id = m.user_id
      WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND (p.${TAKES_PART} OR p.status = 'cancelled')
      ORDER BY p.created_at, p.student_id LIMIT ${MOST_STUDENTS + 1}) AS students
  FROM (${ids}) d JOIN sessions s ON s.organization_id = ${organizationId} AND s.id = d.id ORDER BY ${order}`;

const SOONEST = sql`s.starts_at, s.id`;
const LATEST = sql`s.starts_at DESC, s.id DESC`;

/** The lessons that begin between two instants, the first one included, in their order. */
export function lessonsBetween(
  organizationId: string,
  { state, tutor, after }: LessonFilter,
  [from, to]: readonly [Date, Date],
  most: number,
): Sql {
  const which = state === 'cancelled' ? sql`status = 'cancelled'` : sql`status <> 'cancelled'`;
  const ids = sql`SELECT id FROM sessions WHERE organization_id = ${organizationId} AND ${which}
    AND starts_at >= ${from.toISOString()} AND starts_at <= ${to.toISOString()}${ofTutor(tutor)}${ahead(after)}
    ORDER BY starts_at, id LIMIT ${most}`;
  return rowsOf(organizationId, ids, SOONEST);
}

/** Upcoming lessons without a tutor, soonest first. */
export function unassigned(organizationId: string, after: Position | null, most: number): Sql {
  const ids = sql`SELECT id FROM sessions WHERE organization_id = ${organizationId} AND tutor_id IS NULL AND ${UPCOMING}
    ${ahead(after)} ORDER BY starts_at, id LIMIT ${most}`;
  return rowsOf(organizationId, ids, SOONEST);
}

/** Upcoming lessons among which clashes are looked for, soonest first. */
export const lookedAt = (organizationId: string, { tutor, after }: LessonFilter): Sql => sql`
  SELECT id, starts_at, ends_at, tutor_id FROM sessions WHERE organization_id = ${organizationId} AND ${UPCOMING}
    ${ofTutor(tutor)}${ahead(after)} ORDER BY starts_at, id LIMIT ${LOOKED_AT}`;

/** Those of them at whose time the tutor or a student has another lesson. No lesson takes longer than a day. */
export function clashing(organizationId: string, filter: LessonFilter, most: number): Sql {
  const ids = sql`
    WITH near AS MATERIALIZED (${lookedAt(organizationId, filter)}),
    around AS MATERIALIZED (
      SELECT s.id, s.starts_at, s.ends_at, p.student_id
      FROM (SELECT min(starts_at) AS from_at, max(ends_at) AS to_at FROM near) n
      JOIN sessions s ON s.organization_id = ${organizationId} AND s.status <> 'cancelled' AND s.starts_at < n.to_at
        AND s.starts_at > n.from_at - interval '24 hours' AND s.ends_at > n.from_at
      JOIN lesson_participants p ON p.organization_id = ${organizationId} AND p.session_id = s.id AND p.${TAKES_PART})
    SELECT id, starts_at FROM near n
    WHERE EXISTS (SELECT FROM sessions o WHERE o.organization_id = ${organizationId} AND o.tutor_id = n.tutor_id
        AND o.status <> 'cancelled' AND o.id <> n.id AND o.starts_at < n.ends_at AND o.ends_at > n.starts_at
        AND o.starts_at > n.starts_at - interval '24 hours')
      OR n.id IN (SELECT a.id FROM around a JOIN around b ON b.student_id = a.student_id AND b.id <> a.id
        AND b.starts_at < a.ends_at AND b.ends_at > a.starts_at)
    ORDER BY starts_at, id LIMIT ${most}`;
  return rowsOf(organizationId, ids, SOONEST);
}

/** Lessons that have begun, the latest first. Most of them are completed: the index of starts finds the latest. */
export function begun(organizationId: string, { state, tutor, after }: LessonFilter, most: number): Sql {
  const completed = sql`organization_id = ${organizationId} AND status = 'completed' AND starts_at <= now()`;
  const ids = sql`
    WITH begun AS ${state === 'due' ? sql`MATERIALIZED` : empty} (SELECT id, starts_at, tutor_id FROM sessions
      WHERE ${state === 'due' ? isDue(organizationId) : completed})
    SELECT id FROM begun WHERE true${ofTutor(tutor)}${behind(after, 'starts_at')} ORDER BY starts_at DESC, id DESC LIMIT ${most}`;
  return rowsOf(organizationId, ids, LATEST);
}

/** Accepted staff, the newest first. */
export const staffOf = (organizationId: string, most: number): Sql => sql`
  SELECT m.user_id AS id, ${nameOf} AS name FROM (SELECT * FROM members WHERE organization_id = ${organizationId} AND ${IS_STAFF}
    AND status = 'accepted' ORDER BY created_at DESC, user_id DESC LIMIT ${most}) m LEFT JOIN users u ON u.id = m.user_id`;

/** Somebody of the staff, also one who has left. */
export const staffMember = (organizationId: string, id: string | null): Sql => sql`
  SELECT m.user_id AS id, ${nameOf} AS name FROM members m LEFT JOIN users u ON u.id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND m.${IS_STAFF}`;

export const lesson = (organizationId: string, id: string): Sql => sql`
  SELECT s.id, s.title, s.status, s.starts_at, s.duration_minutes AS minutes, s.tutor_id,
    ${memberName(organizationId, sql`s.tutor_id`)} AS tutor, s.amount_owed_cents::float8 AS owed, s.meeting_url,
    (SELECT concat_ws(', ', l.label, l.suburb) FROM locations l WHERE l.organization_id = ${organizationId} AND l.id = s.location_id) AS place,
    s.status = 'scheduled' AND s.starts_at <= now() AS due, s.charged_pct AS charged, s.cancellation_reason AS reason,
    s.series_id, s.series_detached,
    (SELECT name FROM subjects j WHERE j.organization_id = ${organizationId} AND j.id = s.subject_id) AS subject
  FROM sessions s WHERE s.organization_id = ${organizationId} AND s.id = ${id}`;

/** Who takes part in a lesson, and what each pays. */
export const participantsOf = (organizationId: string, sessionId: string): Sql => sql`
  SELECT p.student_id, ${nameOf} AS student, p.attendance, p.rate_cents::text AS rate, p.surcharge_cents::text AS surcharge,
    p.billed_cents::text AS billed, p.status = 'cancelled' AS cancelled
  FROM lesson_participants p JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id
  LEFT JOIN users u ON u.id = m.user_id
  WHERE p.organization_id = ${organizationId} AND p.session_id = ${sessionId}
    AND (p.${TAKES_PART} OR p.status = 'cancelled')
  ORDER BY p.created_at, p.student_id`;
