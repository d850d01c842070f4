import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type DateBound } from '@app/database';
import { type Refusal, Refused } from '@app/rules';
import { type Booked, Bookings, type WantedSession } from './bookings.js';
import { LAST_INSTANT, type Timed } from './overlap.js';
import { SessionChanges } from './session-changes.js';
import { endOfDay, occurrences, startOfDay } from './wall-clock.js';

/** The most sessions in a series. */
export const MOST_IN_SERIES = 60;

/** How a series repeats: so many times, or until a day of the organization's time zone, which it may reach. */
export interface Repeated {
  everyWeeks: number;
  count?: number;
  until?: string;
}

/** The times of a series, or why it has none. @param zone the organization's */
export function timesOf(first: Timed, { everyWeeks, count, until }: Repeated, zone: string): Timed[] | Refusal {
  const end = until === undefined ? null : endOfDay(until, zone);
  if (end && end < first.startsAt) return { at: ['until'], reason: 'Must not be before the first session.' };
  const all = { startsAt: first.startsAt, zone, everyWeeks };
  // One too many shows that there are: a day may be thousands of years away.
  const starts = occurrences(end ? { ...all, until: end, count: MOST_IN_SERIES + 1 } : { ...all, count: count! });
  if (starts.length > MOST_IN_SERIES) {
    return { at: ['until'], reason: `A series has at most ${MOST_IN_SERIES} sessions. Choose an earlier day.` };
  }
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
  ) {}

  /** @throws Refused like a booking: for any of the times, unless those that are taken may be skipped */
  async book(
    organizationId: string,
    wanted: WantedSession,
    first: Timed,
    repeated: Repeated,
    skipConflicts: boolean,
  ): Promise<Booked & { seriesId: string }> {
    const zone = await this.zoneOf(organizationId);
    const times = timesOf(first, repeated, zone);
    if (!Array.isArray(times)) throw Refused.invalidAt([times]);
    const seriesId = uuidv7();
    return { seriesId, ...(await this.bookings.bookAll(organizationId, wanted, times, { seriesId, skipConflicts })) };
  }

  /** Cancels the series' sessions from a day or an instant on. @returns the ids of those that are cancelled from then on, and what is new */
  async cancel(organizationId: string, seriesId: string, from: DateBound | null) {
    const at = !from
      ? new Date()
      : from.wholeDay
        ? startOfDay(from.at.toISOString().slice(0, 10), await this.zoneOf(organizationId))
        : from.at;
    return this.changes.cancelSeries(organizationId, seriesId, at);
  }

  private async zoneOf(organizationId: string): Promise<string> {
    const [found] = await this.db.query<{ zone: string }>(
      sql`SELECT time_zone AS zone FROM organizations WHERE id = ${organizationId}`,
    );
    return found!.zone;
  }
}
