import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, type DateBound } from '@app/database';
import { Refused } from '@app/rules';
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
    { everyWeeks, count, until }: Repeated,
    skipConflicts: boolean,
  ): Promise<Booked & { seriesId: string }> {
    const zone = await this.zoneOf(organizationId);
    const end = until === undefined ? null : endOfDay(until, zone);
    if (end && end < first.startsAt) throw Refused.invalid('Must not be before the first session.', 'until');
    const all = { startsAt: first.startsAt, zone, everyWeeks };
    const starts = occurrences(end ? { ...all, until: end } : { ...all, count: count! });
    if (starts.length > MOST_IN_SERIES) {
      throw Refused.invalid(`A series has at most ${MOST_IN_SERIES} sessions. Choose an earlier day.`, 'until');
    }
    const length = first.endsAt.getTime() - first.startsAt.getTime();
    const times = starts.map((startsAt) => ({ startsAt, endsAt: new Date(startsAt.getTime() + length) }));
    if (times.at(-1)!.endsAt > LAST_INSTANT) {
      throw Refused.invalid('The series must end in the year 9999 at the latest.', end ? 'until' : 'count');
    }
    const seriesId = uuidv7();
    return { seriesId, ...(await this.bookings.bookAll(organizationId, wanted, times, { seriesId, skipConflicts })) };
  }

  /** Cancels the series' sessions from a day or an instant on. @returns the ids of those that are cancelled from then on */
  async cancel(organizationId: string, seriesId: string, from: DateBound | null): Promise<string[]> {
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
