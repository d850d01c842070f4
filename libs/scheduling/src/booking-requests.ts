import { Injectable } from '@nestjs/common';
import sql, { join, raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { BOOKING_REQUEST, Database, findId, lockRecord, transition, type VALUES } from '@app/database';
import { Refused } from '@app/rules';

type Values = (typeof VALUES)['booking_requests'];

/** A lesson that somebody wants. */
export interface WantedLesson {
  /** Its id or code. */
  subject: string | null;
  studentId: string | null;
  studentDisplayName: string | null;
  preferredMode: Values['preferred_mode'][number] | null;
  /** `monday` and so on. */
  preferredDays: readonly string[];
  /** By day, hours such as `16:00-18:00` on the organization's clock. */
  preferredTimes: Readonly<Record<string, readonly string[]>>;
  durationMinutes: number | null;
  message: string | null;
}

/** Requests for lessons, in the ambient transaction: from the wish to the session that was booked for it. */
@Injectable()
export class BookingRequests {
  constructor(private readonly db: Database) {}

  /** @throws Refused for an unknown subject, and for a student who is unknown or archived */
  async add(organizationId: string, wanted: WantedLesson): Promise<string> {
    const subjectId = await findId(this.db, 'subjects', organizationId, wanted.subject);
    if (wanted.studentId && !(await this.lockStudent(organizationId, wanted.studentId))) throw Refused.notFound();
    const { studentId, studentDisplayName, preferredMode, preferredDays, preferredTimes, durationMinutes } = wanted;
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO booking_requests (id, organization_id, subject_id, student_id, student_display_name, preferred_mode,
        preferred_days, preferred_times, duration_minutes, message)
      VALUES (${id}, ${organizationId}, ${subjectId}, ${studentId}, ${studentDisplayName}, ${preferredMode},
        ${[...preferredDays]}::text[], ${JSON.stringify(preferredTimes)}::jsonb, ${durationMinutes}, ${wanted.message})`);
    return id;
  }

  /** Keeps a request for a booking that follows, whose people are locked. @throws Refused unless it is pending */
  async lock(organizationId: string, id: string): Promise<void> {
    const found = await lockRecord<{ status: string }>(this.db, 'booking_requests', organizationId, id, sql`status`);
    if (found.status !== 'pending') throw Refused.invalidState(found.status, BOOKING_REQUEST.allowed('match'));
  }

  /** @param id a request that is locked */
  async match(organizationId: string, id: string, sessionId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE booking_requests SET status = 'matched', matched_session_id = ${sessionId}, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${id}`);
  }

  /** The session was booked by mistake and is about to be deleted: its request waits again, unless its student has left. */
  async release(organizationId: string, sessionId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE booking_requests b SET matched_session_id = NULL, updated_at = now(),
        status = CASE WHEN EXISTS (SELECT FROM members m WHERE m.organization_id = b.organization_id
          AND m.user_id = b.student_id AND m.status = 'archived') THEN 'expired' ELSE 'pending' END
      WHERE organization_id = ${organizationId} AND matched_session_id = ${sessionId}`);
  }

  /**
   * Declines a request or lets it wait again, and changes what a waiting one wishes for; undefined wishes stay.
   *
   * @returns whether it changed @throws Refused for an unknown request or subject, and for wishes of one that does not wait
   */
  async patch(
    organizationId: string,
    id: string,
    status: 'pending' | 'declined' | undefined,
    { subject, preferredMode, preferredDays, preferredTimes, durationMinutes, message }: Partial<WantedLesson>,
  ): Promise<boolean> {
    const wished = sql`SELECT subject_id FROM booking_requests WHERE organization_id = ${organizationId} AND id = ${id}`;
    const subjectId = subject && (await findId(this.db, 'subjects', organizationId, subject, wished));
    const stepped =
      status !== undefined && (await this.change(organizationId, id, status === 'pending' ? 'reopen' : 'decline'));
    const wishes = Object.entries({
      subject_id: subject === undefined ? undefined : subjectId,
      preferred_mode: preferredMode,
      preferred_days: preferredDays,
      preferred_times: preferredTimes && JSON.stringify(preferredTimes),
      duration_minutes: durationMinutes,
      message,
    }).filter(([, value]) => value !== undefined);
    const found = await lockRecord<{ status: string }>(this.db, 'booking_requests', organizationId, id, sql`status`);
    if (wishes.length === 0) return stepped;
    if (found.status !== 'pending') {
      throw Refused.invalidState(found.status, ['pending'], 'Wishes can be changed while the request waits.');
    }
    const names = join(wishes.map(([column]) => raw(column)));
    const set = join(wishes.map(([column, value]) => sql`${raw(column)} = ${value}`));
    const changed = await this.db.count(sql`
      UPDATE booking_requests SET ${set}, updated_at = now() WHERE organization_id = ${organizationId} AND id = ${id}
        AND ROW(${names}) IS DISTINCT FROM ROW(${join(wishes.map(([, value]) => value))})`);
    return stepped || changed > 0;
  }

  /** Declines a request, or lets it wait again; the session of a matched one stays. @returns whether it changed @throws Refused */
  async change(organizationId: string, id: string, action: 'decline' | 'reopen'): Promise<boolean> {
    const there = action !== 'reopen' || (await this.lockStudentOf(organizationId, id));
    return transition(this.db, 'booking_requests', BOOKING_REQUEST, {
      organizationId,
      id,
      action,
      set(next, { status }) {
        if (next && !there) throw Refused.invalidState(status, ['pending'], 'The student of this request has left.');
        return [sql`matched_session_id = NULL`, sql`updated_at = now()`];
      },
    });
  }

  /** People are locked before the request. @returns whether its student, if it names one, is still here */
  async lockStudentOf(organizationId: string, id: string): Promise<boolean> {
    const [request] = await this.db.query<{ studentId: string | null }>(sql`
      SELECT student_id AS "studentId" FROM booking_requests WHERE organization_id = ${organizationId} AND id = ${id}`);
    return !request?.studentId || this.lockStudent(organizationId, request.studentId);
  }

  /** Whether the student may have a request; nobody ends them meanwhile. */
  private async lockStudent(organizationId: string, id: string): Promise<boolean> {
    const [, [student]] = await Promise.all([
      this.db.lockPeople(organizationId, [id]),
      this.db.query(sql`
        SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id} AND role = 'student'
          AND status <> 'archived'`),
    ]);
    return student !== undefined;
  }
}
