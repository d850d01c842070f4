import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { BookingRequests } from './booking-requests.js';
import { Calendar, type Clash, clashesOf, overlapWith } from './calendar.js';
import { LessonTerms, type Who } from './lesson-terms.js';
import { overlapping, type Timed } from './overlap.js';
import { type Place, Places } from './places.js';
import { commonRate } from './rates.js';
import { SessionRows } from './session-rows.js';
import { type ParticipantPrice, settle } from './settling.js';

/** A session that somebody wants, whenever it takes place. */
export interface WantedSession extends Place {
  tutorId: string;
  who: Who;
  status: 'pending' | 'scheduled';
  title: string | null;
  mode: 'online' | 'in_person' | null;
  /** Its id or code. */
  subject: string | null;
  /** An hour; null to settle it by the table of rates. */
  studentRateCents: number | null;
  tutorPayRateCents: number | null;
  /** Whether it may take place beside another session of the tutor. */
  allowOverlap: boolean;
  /** Whether it may take place beside another session of a student who takes part. */
  allowStudentOverlap: boolean;
  /** The pending request that this session answers. */
  bookingRequestId: string | null;
}

/** What the price of a session depends on. */
export type Quoted = Pick<WantedSession, 'tutorId' | 'who' | 'mode' | 'subject' | 'studentRateCents'>;

/** What was booked, and what was left out because it was taken. */
export interface Booked {
  ids: string[];
  skipped: Clash[];
}

/** How sessions that repeat are booked. */
interface Repetitions {
  seriesId: string | null;
  skipConflicts: boolean;
  /** Runs before the sessions are written, once it is settled what they are of. */
  before?: (session: { subjectId: string | null; groupId: string | null; classroomId: string | null }) => Promise<void>;
}

/** Books sessions, in the ambient transaction. */
@Injectable()
export class Bookings {
  constructor(
    private readonly terms: LessonTerms,
    private readonly calendar: Calendar,
    private readonly rows: SessionRows,
    private readonly requests: BookingRequests,
    private readonly places: Places,
  ) {}

  /** Who would take part in a lesson that is booked now, and what each would pay. @throws Refused for unknown people */
  async quote(organizationId: string, wanted: Quoted): Promise<ParticipantPrice[]> {
    const subjectId = await this.terms.subjectId(organizationId, wanted.subject);
    const { tutorId, who, studentRateCents } = wanted;
    const subject = { subjectId, ...classOf(wanted) };
    const terms = await this.terms.of(organizationId, { tutorId, who, ...subject }, true);
    return settle(terms, subject, studentRateCents ?? undefined).participants;
  }

  /** @throws Refused for unknown people, a time that is taken, and a request that is not pending */
  async book(organizationId: string, wanted: WantedSession, time: Timed): Promise<string> {
    const { ids } = await this.bookAll(organizationId, wanted, [time], { seriesId: null, skipConflicts: false });
    return ids[0]!;
  }

  /**
   * The same at several times, none of which overlaps another: all or nothing, unless those that are taken may be skipped.
   *
   * @throws Refused if nothing would be booked, besides the reasons above
   */
  async bookAll(
    organizationId: string,
    wanted: WantedSession,
    times: readonly Timed[],
    { seriesId, skipConflicts, before }: Repetitions,
  ): Promise<Booked> {
    const { tutorId, who, studentRateCents, tutorPayRateCents, allowOverlap, bookingRequestId } = wanted;
    const subjectId = await this.terms.subjectId(organizationId, wanted.subject);
    const { mode, groupId, classroomId } = classOf(wanted);
    const subject = { subjectId, mode, groupId, classroomId };
    // The people are locked before the calendar: in one round trip, if nobody has to look up who they are.
    const people = this.terms.of(organizationId, { tutorId, who, ...subject }, true);
    const calendar = () => this.calendar.lock(organizationId, tutorId, times);
    const [terms, busy] = await Promise.all([people, 'studentIds' in who ? calendar() : people.then(calendar)]);
    if (bookingRequestId) await this.requests.lock(organizationId, bookingRequestId);
    const place = await this.places.of(organizationId, wanted);
    const { participants, pay } = settle(terms, subject, studentRateCents ?? undefined);

    const ids = participants.map(({ studentId }) => studentId);
    const theirs = wanted.allowStudentOverlap ? [] : await this.calendar.lockStudents(organizationId, ids, times);
    const skipped = clashesOf(times, [...(allowOverlap ? [] : busy), ...theirs]);
    if (skipped.length > 0 && !(skipConflicts && skipped.length < times.length)) throw overlapWith(skipped[0]!, who);
    const free = times.filter(({ startsAt }) => !skipped.some((clash) => clash.startsAt === startsAt));

    const sessions = free.map((time) => ({
      id: uuidv7(),
      status: wanted.status,
      title: wanted.title,
      tutor_id: tutorId,
      student_id: groupId === null && participants.length === 1 ? participants[0]!.studentId : null,
      subject_id: subjectId,
      group_id: groupId,
      classroom_id: classroomId,
      series_id: seriesId,
      series_detached: false,
      starts_at: time.startsAt.toISOString(),
      ends_at: time.endsAt.toISOString(),
      duration_minutes: minutesOf(time),
      tutor_pay_rate_cents: tutorPayRateCents ?? pay.payRateCents,
      tutor_pay_pct: tutorPayRateCents === null ? pay.payPct : null,
      tutor_pay_given: tutorPayRateCents !== null,
      student_rate_cents: commonRate(participants),
      student_rate_given: studentRateCents !== null,
      set_rate_cents: studentRateCents,
      mode,
      ...place,
      overlap_allowed: overlapping(time, busy).length > 0,
    }));
    await before?.({ subjectId, groupId, classroomId });
    await this.rows.add(organizationId, sessions, participants);
    if (bookingRequestId) await this.requests.match(organizationId, bookingRequestId, sessions[0]!.id);
    return { ids: sessions.map(({ id }) => id), skipped };
  }
}

const classOf = ({ who, mode }: Pick<WantedSession, 'who' | 'mode'>) => ({
  mode,
  groupId: 'groupId' in who ? who.groupId : null,
  classroomId: 'classroomId' in who ? who.classroomId : null,
});

export function minutesOf({ startsAt, endsAt }: Timed): number {
  return Math.round((endsAt.getTime() - startsAt.getTime()) / 60_000);
}
