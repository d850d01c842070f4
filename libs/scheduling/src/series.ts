import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type DateBound, TAKES_PART } from '@app/database';
import { type Refusal, Refused } from '@app/rules';
import { type Booked, Bookings, minutesOf, type WantedSession } from './bookings.js';
import type { Who } from './lesson-terms.js';
import { LAST_INSTANT, type Timed } from './overlap.js';
import { instantOf, SeriesChanges } from './series-changes.js';
import { type SeriesPattern, SeriesPatterns, timesAfter } from './series-patterns.js';
import { SessionChanges } from './session-changes.js';
import { endOfDay, occurrences } from './wall-clock.js';

/** The most sessions in a series, and by which one request extends it. */
export const MOST_IN_SERIES = 60;

/** So many times, or until a day of the organization's time zone, which it may reach. */
export interface Extent {
  count?: number;
  until?: string;
}

/** How a series repeats. */
export interface Repeated extends Extent {
  everyWeeks: number;
}

const TOO_MANY = { at: ['until'], reason: `A series has at most ${MOST_IN_SERIES} sessions. Choose an earlier day.` };

/** The times of a series, or why it has none. @param zone the organization's */
export function timesOf(first: Timed, { everyWeeks, count, until }: Repeated, zone: string): Timed[] | Refusal {
  const end = until === undefined ? null : endOfDay(until, zone);
  if (end && end < first.startsAt) return { at: ['until'], reason: 'Must not be before the first session.' };
  const all = { startsAt: first.startsAt, zone, everyWeeks };
  // One too many shows that there are: a day may be thousands of years away.
  const starts = occurrences(end ? { ...all, until: end, count: MOST_IN_SERIES + 1 } : { ...all, count: count! });
  if (starts.length > MOST_IN_SERIES) return TOO_MANY;
  const length = first.endsAt.getTime() - first.startsAt.getTime();
  const times = starts.map((startsAt) => ({ startsAt, endsAt: new Date(startsAt.getTime() + length) }));
  if (times.at(-1)!.endsAt <= LAST_INSTANT) return times;
  return { at: [end ? 'until' : 'count'], reason: 'The series must end in the year 9999 at the latest.' };
}

/** Sessions that repeat by the clock on the organization's wall. */
@Injectable()
export class Series {
  constructor(
    private readonly db: Database,
    private readonly bookings: Bookings,
    private readonly changes: SessionChanges,
    private readonly siblings: SeriesChanges,
    private readonly patterns: SeriesPatterns,
  ) {}

  /** @throws Refused like a booking: for any of the times, unless those that are taken may be skipped */
  async book(
    organizationId: string,
    wanted: WantedSession,
    first: Timed,
    repeated: Repeated,
    skipConflicts: boolean,
  ): Promise<Booked & { seriesId: string }> {
    const times = timesOf(first, repeated, await this.patterns.zoneOf(organizationId));
    if (!Array.isArray(times)) throw Refused.invalidAt([times]);
    const pattern = { ...wanted, id: uuidv7(), minutes: minutesOf(first), everyWeeks: repeated.everyWeeks };
    const lasts = { startsAt: first.startsAt, lastStartsAt: times.at(-1)!.startsAt };
    const booked = await this.bookings.bookAll(organizationId, wanted, times, {
      ...{ seriesId: pattern.id, skipConflicts },
      before: (session) => this.patterns.add(organizationId, { ...pattern, ...session, ...lasts }),
    });
    return { seriesId: pattern.id, ...booked };
  }

  /** Locks the sessions of a series, before whoever locks the series itself. */
  lock(organizationId: string, id: string): Promise<unknown> {
    return this.siblings.lock(organizationId, id);
  }

  /**
   * Books further sessions as the pattern says, with whoever is in its class now, or else took part in its last session.
   *
   * @throws Refused like a booking, and for a series without a tutor or students
   */
  async extend(organizationId: string, id: string, { count, until }: Extent, skipConflicts: boolean): Promise<Booked> {
    await this.siblings.lock(organizationId, id);
    const pattern = await this.patterns.lock(organizationId, id);
    const zone = await this.patterns.zoneOf(organizationId);
    const end = until === undefined ? undefined : endOfDay(until, zone);
    const times = timesAfter(pattern, zone, { count: count ?? MOST_IN_SERIES + 1, until: end });
    if (times.length === 0 && end) throw Refused.invalid('Must not be before the next session.', 'until');
    if (times.length > MOST_IN_SERIES) throw Refused.invalidAt([TOO_MANY]);
    if (times.length === 0 || times.at(-1)!.endsAt > LAST_INSTANT) {
      throw Refused.invalid('The series must end in the year 9999 at the latest.', end ? 'until' : 'count');
    }
    const wanted = await this.wantedBy(organizationId, pattern);
    const booked = await this.bookings.bookAll(organizationId, wanted, times, { seriesId: id, skipConflicts });
    await this.patterns.update(organizationId, { ...pattern, lastStartsAt: times.at(-1)!.startsAt });
    return booked;
  }

  /** Cancels the series' sessions from a day or an instant on. @returns the ids of those that are cancelled from then on, and what is new */
  async cancel(organizationId: string, seriesId: string, from: DateBound | null) {
    const at = instantOf(from, await this.patterns.zoneOf(organizationId));
    const cancelled = await this.changes.cancelSeries(organizationId, seriesId, at);
    await this.patterns.lock(organizationId, seriesId);
    return cancelled;
  }

  private async wantedBy(organizationId: string, pattern: SeriesPattern): Promise<WantedSession> {
    const { tutorId, groupId, classroomId, subjectId } = pattern;
    if (!tutorId) throw Refused.invalidState('pending', [], 'The series has no tutor. Assign one first.');
    const [last] = await this.db.query<{ title: string | null; studentIds: string[] }>(sql`
      SELECT s.title, ARRAY(SELECT p.student_id FROM lesson_participants p
          JOIN members m ON m.organization_id = p.organization_id AND m.user_id = p.student_id AND m.status = 'accepted'
          WHERE p.organization_id = s.organization_id AND p.session_id = s.id AND (p.${TAKES_PART} OR p.status = 'cancelled')
          ORDER BY p.student_id) AS "studentIds"
      FROM sessions s WHERE s.organization_id = ${organizationId} AND s.series_id = ${pattern.id}
      ORDER BY s.status = 'cancelled', s.starts_at DESC LIMIT 1`);
    const who: Who = groupId ? { groupId } : classroomId ? { classroomId } : { studentIds: last?.studentIds ?? [] };
    if ('studentIds' in who && who.studentIds.length === 0) {
      throw Refused.invalidState('pending', [], 'Nobody takes part in the series any more.');
    }
    return {
      ...pattern,
      ...{ tutorId, who, subject: subjectId, title: last?.title ?? null, status: 'scheduled' },
      ...{ allowOverlap: false, allowStudentOverlap: true, bookingRequestId: null },
    };
  }
}
