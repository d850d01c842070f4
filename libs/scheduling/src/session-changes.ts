import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database, SESSION, TAKES_PART } from '@app/database';
import { Refused } from '@app/rules';
import { BookingRequests } from './booking-requests.js';
import { minutesOf } from './bookings.js';
import { Calendar, clashesOf, overlapWith } from './calendar.js';
import { LessonTerms, type Who } from './lesson-terms.js';
import { overlapping } from './overlap.js';
import { Places } from './places.js';
import { leavesSeries, type SessionChange, type Stored, timeOf } from './session-change.js';
import { type SessionRow, SessionRows } from './session-rows.js';
import { type ParticipantPrice, settle, type Terms } from './settling.js';

/** The states in which a session can change, and be cancelled. */
export const OPEN = SESSION.allowed('cancel');

/** What is to be written, and which sessions are not in the way. */
interface Placing {
  changed: Partial<SessionRow>;
  participants: ParticipantPrice[] | null;
  except: readonly string[];
}

/** Moves, changes, cancels and deletes sessions, in the ambient transaction. */
@Injectable()
export class SessionChanges {
  constructor(
    private readonly db: Database,
    private readonly terms: LessonTerms,
    private readonly calendar: Calendar,
    private readonly rows: SessionRows,
    private readonly requests: BookingRequests,
    private readonly places: Places,
  ) {}

  /**
   * @param siblings sessions of its series that are moved with it: they keep to the series, and where they were is free
   * @returns false without any field: it changes nothing
   * @throws Refused for a session that is completed or cancelled, unknown people and such as have left, and a time
   *   that is taken
   */
  async change(
    organizationId: string,
    id: string,
    change: SessionChange,
    siblings: readonly string[] | null = null,
  ): Promise<boolean> {
    const [session] = await this.lock(organizationId, sql`id = ${id}`);
    if (!session) throw Refused.notFound();
    if (Object.values<unknown>(change).every((value) => value === undefined)) return false;
    if (!OPEN.includes(session.status)) throw Refused.invalidState(session.status, OPEN);
    const changed: Partial<SessionRow> = {
      ...(change.title !== undefined && { title: change.title }),
      ...confirmed(session, change),
      ...(await this.places.changed(organizationId, session, change)),
    };
    // Who leaves waits for sessions ahead, not for this one, so those in it can be waited for.
    const revived = change.startsAt !== undefined && session.startsAt <= new Date();
    if (revived) await this.terms.lockPeopleOf(organizationId, id);
    const participants = await this.settle(organizationId, session, change, changed);
    await this.move(organizationId, session, change, { changed, participants, except: [id, ...(siblings ?? [])] });
    if (!siblings && session.seriesId && leavesSeries(session, change, changed)) changed.series_detached = true;
    if (Object.keys(changed).length > 0) await this.rows.update(organizationId, id, changed);
    if (participants) await this.rows.replaceParticipants(organizationId, id, participants);
    if (revived) await this.terms.requireNobodyLeft(organizationId, id, session.status);
    return true;
  }

  /**
   * Settles prices and pay once who takes part has changed without {@link change}, as that does.
   *
   * @param newcomer who has just come back, and pays what newcomers pay
   */
  async settleAgain(organizationId: string, id: string, newcomer: string | null): Promise<void> {
    const [session] = await this.lock(organizationId, sql`id = ${id}`);
    const there = await this.participants(organizationId, id);
    if (there.length === 0) return this.rows.followParticipants(organizationId, id);
    const before = there.filter(({ studentId }) => studentId !== newcomer);
    const terms = await this.terms.of(organizationId, { ...session!, who: { sessionId: id } }, false);
    const { participants, pay } = settle(terms, session!, undefined, withNewcomers(session!, before, terms));
    const due = { tutor_pay_rate_cents: pay.payRateCents, tutor_pay_pct: pay.payPct };
    if (!session!.payGiven) await this.rows.update(organizationId, id, due);
    await this.rows.replaceParticipants(organizationId, id, participants);
  }

  /** Cancels a session. @returns false if it had been done before @throws Refused for another reason than that of the first time */
  async cancel(organizationId: string, id: string, reason: string | null): Promise<boolean> {
    const [session] = await this.lock(organizationId, sql`id = ${id}`);
    if (!session) throw Refused.notFound();
    if (SESSION.next('cancel', session.status)) {
      await this.rows.cancel(organizationId, [id], reason);
      return true;
    }
    if (reason === null || reason === session.reason) return false;
    throw Refused.invalidState(session.status, OPEN, 'The session was cancelled before, for another reason.');
  }

  /** Cancels a series' sessions from an instant on; those that are completed stay. @returns their ids, also of those that were cancelled earlier, and what is new */
  async cancelSeries(
    organizationId: string,
    seriesId: string,
    from: Date,
  ): Promise<{ ids: string[]; cancelled: string[] }> {
    const sessions = await this.lock(organizationId, sql`series_id = ${seriesId}`);
    const ahead = sessions.filter(({ startsAt, status }) => startsAt >= from && status !== 'completed');
    const open = ahead.filter(({ status }) => OPEN.includes(status));
    const cancelled = open.map(({ id }) => id);
    await this.rows.cancel(organizationId, cancelled, null);
    return { ids: ahead.map(({ id }) => id), cancelled };
  }

  /** @throws Refused for a completed session, and one that another record names */
  async remove(organizationId: string, id: string): Promise<void> {
    const [session] = await this.lock(organizationId, sql`id = ${id}`);
    if (!session) throw Refused.notFound();
    if (session.status === 'completed') {
      throw Refused.invalidState(
        session.status,
        SESSION.values.filter((state) => state !== 'completed'),
      );
    }
    await this.requests.release(organizationId, id);
    await this.rows.remove(organizationId, id);
  }

  /** Sets the columns that prices depend on, and the pay. @returns the participants to write; null if nothing of them changes */
  private async settle(
    organizationId: string,
    session: Stored,
    change: SessionChange,
    changed: Partial<SessionRow>,
  ): Promise<ParticipantPrice[] | null> {
    const { studentRateCents: rate, tutorPayRateCents: pay, who } = change;
    const subject = {
      subjectId:
        change.subject === undefined
          ? session.subjectId
          : await this.terms.subjectId(organizationId, change.subject, session.subjectId),
      mode: change.mode === undefined ? session.mode : change.mode,
      groupId: who && !('studentIds' in who) ? idOf(who, 'groupId') : session.groupId,
      classroomId: who && !('studentIds' in who) ? idOf(who, 'classroomId') : session.classroomId,
    };
    const tutorId = change.tutorId ?? session.tutorId;
    const moved = tutorId !== session.tutorId;
    const before = await this.participants(organizationId, session.id);
    const staying = new Set(before.map(({ studentId }) => studentId));
    const same = (ids: readonly string[]) => ids.length === staying.size && ids.every((id) => staying.has(id));
    const stay = !who || ('studentIds' in who && same(who.studentIds));
    // Who takes part no more is asked back, unless they have left.
    if (who && 'studentIds' in who) {
      const back = before.filter(({ studentId, takesPart }) => !takesPart && who.studentIds.includes(studentId));
      if (!(await this.terms.areHere(organizationId, back.map(({ studentId }) => studentId)))) throw Refused.notFound(); // prettier-ignore
    }
    const names = ['subjectId', 'mode', 'groupId', 'classroomId'] as const;
    const unchanged = !moved && names.every((name) => subject[name] === session[name]);
    if (unchanged && stay && rate === undefined && pay === undefined) return null;

    const wanted = { tutorId, who: who && !stay ? who : { sessionId: session.id }, ...subject };
    const people = [...staying, session.tutorId].filter((id) => id !== null);
    const terms = await this.terms.of(organizationId, wanted, moved, people);
    const settled = unchanged && same(terms.students.map(({ id }) => id));
    const { participants, pay: due } = settle(terms, subject, rate, withNewcomers(session, before, terms));

    Object.assign(changed, { tutor_id: tutorId, subject_id: subject.subjectId, mode: subject.mode });
    Object.assign(changed, { group_id: subject.groupId, classroom_id: subject.classroomId });
    if (rate !== undefined) Object.assign(changed, { student_rate_given: rate !== null, set_rate_cents: rate });
    if (pay !== undefined && pay !== null) {
      Object.assign(changed, { tutor_pay_rate_cents: pay, tutor_pay_pct: null, tutor_pay_given: true });
    } else if (pay === null || (!settled && !session.payGiven)) {
      Object.assign(changed, {
        tutor_pay_rate_cents: due.payRateCents,
        tutor_pay_pct: due.payPct,
        tutor_pay_given: false,
      });
    }
    if (!settled || rate === null) return participants;
    return rate === undefined
      ? null
      : before.map((participant) => ({ ...participant, rateCents: rate, rateGiven: true }));
  }

  /** Sets the columns of a change of time or tutor, once tutor and students are free. @param participants who takes part, if that changes */
  private async move(
    organizationId: string,
    session: Stored,
    change: SessionChange,
    { changed, participants, except }: Placing,
  ): Promise<void> {
    const time = timeOf(session, change);
    const tutorId = change.tutorId ?? session.tutorId;
    const still =
      time.startsAt.getTime() === session.startsAt.getTime() && time.endsAt.getTime() === session.endsAt.getTime();
    const stays = still && tutorId === session.tutorId;
    const busy = tutorId && !stays ? await this.calendar.lock(organizationId, tutorId, [time], except) : [];
    const asked =
      change.allowStudentOverlap === false ? await this.taken(organizationId, session.id, participants, still) : [];
    const theirs = asked.length > 0 ? await this.calendar.lockStudents(organizationId, asked, [time], except) : [];
    const [clash] = clashesOf([time], [...(change.allowOverlap ? [] : busy), ...theirs]);
    if (clash) throw overlapWith(clash, change.who);
    if (stays) return;
    Object.assign(changed, {
      tutor_id: tutorId,
      starts_at: time.startsAt.toISOString(),
      ends_at: time.endsAt.toISOString(),
    });
    Object.assign(changed, { duration_minutes: minutesOf(time), overlap_allowed: overlapping(time, busy).length > 0 });
  }

  /** The students whose time a change takes: all who take part, or of a session that is not moved those who join. */
  private async taken(
    organizationId: string,
    id: string,
    participants: ParticipantPrice[] | null,
    still: boolean,
  ): Promise<string[]> {
    const before = await this.participants(organizationId, id);
    const known = new Map(before.map(({ studentId, takesPart }) => [studentId, takesPart]));
    const after = (participants ?? before).map(({ studentId }) => studentId);
    return after.filter((studentId) => (still ? !known.has(studentId) : known.get(studentId) !== false));
  }

  /** In the order of their ids, which keeps those who cancel a series from waiting for each other. */
  private lock(organizationId: string, which: Sql): Promise<Stored[]> {
    return this.db.query<Stored>(sql`
      SELECT id, status, tutor_id AS "tutorId", subject_id AS "subjectId", group_id AS "groupId",
        classroom_id AS "classroomId", mode, meeting_url AS "meetingUrl", location_id AS "locationId",
        series_id AS "seriesId", starts_at AS "startsAt", ends_at AS "endsAt", tutor_pay_given AS "payGiven",
        CASE WHEN student_rate_given THEN coalesce(set_rate_cents, student_rate_cents) END AS "setRateCents",
        cancellation_reason AS reason
      FROM sessions WHERE organization_id = ${organizationId} AND ${which} ORDER BY id FOR UPDATE`);
  }

  private participants(organizationId: string, sessionId: string) {
    return this.db.query<ParticipantPrice & { takesPart: boolean }>(sql`
      SELECT student_id AS "studentId", ${TAKES_PART} AS "takesPart", rate_cents AS "rateCents", rate_given AND rate_cents IS NOT NULL AS "rateGiven",
        surcharge_cents AS "surchargeCents"
      FROM lesson_participants
      WHERE organization_id = ${organizationId} AND session_id = ${sessionId} AND status <> 'removed'`);
  }
}

/** The participants before a change, and those of whoever joins: they pay the session's set price. */
function withNewcomers({ setRateCents }: Stored, before: readonly ParticipantPrice[], { students }: Terms) {
  const staying = new Set(before.map(({ studentId }) => studentId));
  const newcomers = setRateCents === null ? [] : students.filter(({ id }) => !staying.has(id));
  return [...before, ...newcomers.map(({ id }) => ({ studentId: id, rateCents: setRateCents, rateGiven: true }))];
}

const idOf = (who: Who, kind: 'groupId' | 'classroomId'): string | null =>
  (who as unknown as Record<string, string | undefined>)[kind] ?? null;

/** A session that nobody teaches is neither confirmed nor completed. */
export const withoutTutor = (state: string, allowed: readonly string[]): Refused =>
  Refused.invalidState(state, allowed, 'The session has no tutor. Assign one first.');

/** A change of the status: only from pending to scheduled. */
function confirmed(session: Stored, { status, tutorId }: SessionChange): Partial<SessionRow> {
  if (status === undefined || status === session.status) return {};
  if (status === 'pending') throw Refused.invalidState(session.status, ['pending']);
  if ((tutorId ?? session.tutorId) === null) throw withoutTutor(session.status, SESSION.allowed('confirm'));
  return { status: SESSION.next('confirm', session.status) };
}
