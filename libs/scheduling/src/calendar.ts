import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, TAKES_PART } from '@app/database';
import { Refused } from '@app/rules';
import type { Who } from './lesson-terms.js';
import { overlaps, type Timed } from './overlap.js';

/** A session that takes the tutor's time, or a student's. */
export interface Busy extends Timed {
  id: string;
  /** Whose time it takes, if it is not in the way of the tutor. */
  studentId?: string;
}

/** A time that is wanted, and a session in its way. */
export interface Clash extends Timed {
  sessionId: string;
  studentId?: string;
}

/** The calendars of tutors and students. */
@Injectable()
export class Calendar {
  constructor(private readonly db: Database) {}

  /**
   * Waits for its turn with the tutor's calendar, which it keeps until the end of the ambient transaction, so that of two
   * requests for the same time the later one sees what the earlier one did. Lock sessions before, and nothing but students,
   * invoices and counters after.
   *
   * @param except sessions that are to move
   * @returns the tutor's sessions in this organization from the first time to the last
   */
  async lock(
    organizationId: string,
    tutorId: string,
    times: readonly Timed[],
    except: readonly string[] = [],
  ): Promise<Busy[]> {
    // In one round trip; the second statement sees what was committed before the first one ended.
    const [, sessions] = await Promise.all([
      this.db.lock(`calendar of ${tutorId} in ${organizationId}`),
      this.db.query<Busy>(busyTutor(organizationId, tutorId, times)),
    ]);
    return sessions.filter(({ id }) => !except.includes(id));
  }

  /** The same for students who must not be booked twice: after the tutor's calendar, and in the order of their ids. */
  async lockStudents(
    organizationId: string,
    studentIds: readonly string[],
    times: readonly Timed[],
    except: readonly string[] = [],
  ): Promise<Busy[]> {
    const names = [...studentIds].sort().map((id) => `student ${id} in ${organizationId}`);
    const [, sessions] = await Promise.all([
      this.db.lock(...names),
      this.db.query<Busy>(busyStudents(organizationId, studentIds, times)),
    ]);
    return sessions.filter(({ id }) => !except.includes(id));
  }
}

/** A tutor's sessions in this organization from the first time to the last. */
export const busyTutor = (organizationId: string, tutorId: string | null, times: readonly Timed[]): Sql => sql`
  SELECT id, starts_at AS "startsAt", ends_at AS "endsAt" FROM sessions s
  WHERE organization_id = ${organizationId} AND tutor_id = ${tutorId} AND ${during(times)}
  ORDER BY starts_at, id`;

/** The same of students, each with who takes part. */
export const busyStudents = (
  organizationId: string,
  studentIds: readonly string[],
  times: readonly Timed[],
): Sql => sql`
  SELECT s.id, s.starts_at AS "startsAt", s.ends_at AS "endsAt", p.student_id AS "studentId" FROM lesson_participants p
  JOIN sessions s ON s.organization_id = p.organization_id AND s.id = p.session_id
  WHERE p.organization_id = ${organizationId} AND p.student_id = ANY (${studentIds}::uuid[]) AND p.${TAKES_PART}
    AND ${during(times)}
  ORDER BY s.starts_at, s.id, p.student_id`;

/** The condition of sessions `s` that take place from the first of the times to the last. None takes longer than a day. */
function during(times: readonly Timed[]): Sql {
  const from = new Date(Math.min(...times.map(({ startsAt }) => startsAt.getTime()))).toISOString();
  const to = new Date(Math.max(...times.map(({ endsAt }) => endsAt.getTime()))).toISOString();
  return sql`s.status <> 'cancelled' AND s.starts_at < ${to} AND s.starts_at > ${from}::timestamptz - interval '24 hours' AND s.ends_at > ${from}`;
}

/** Those of the wanted times that are taken, each with the first session in its way; of one that takes the tutor and a student, the tutor's. */
export function clashesOf(times: readonly Timed[], busy: readonly Busy[]): Clash[] {
  const byStart = [...busy].sort((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
  return times.flatMap((time) => {
    const other = byStart.find((session) => overlaps(time, session));
    return other ? [{ ...time, sessionId: other.id, studentId: other.studentId }] : [];
  });
}

/** @param who whom the request named: others are not named to it */
export function overlapWith({ sessionId, studentId }: Clash, who: Who | undefined): Refused {
  const named = studentId !== undefined && who && 'studentIds' in who && who.studentIds.includes(studentId);
  return Refused.conflict(
    'session_overlap',
    studentId === undefined
      ? 'The tutor has another session at this time. Choose a different one, or send "allow_overlap".'
      : 'A student who takes part has another session at this time. Choose a different one, or leave out "allow_student_overlap".',
    { session_id: sessionId, ...(named && { student_id: studentId }) },
  );
}
