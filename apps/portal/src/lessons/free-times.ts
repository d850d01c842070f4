import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { inSlices } from '@app/concurrency';
import { Database } from '@app/database';
import {
  addDays, calendarsOf, dayOf, dayOfWeek, type DaysOff, endOfDay, slots, startOfDay, type Timed, type WeeklyHours,
} from '@app/scheduling'; // prettier-ignore
import type { Membership } from '../web/sessions.js';

/** How far ahead free times are looked for, how many days have them, and how many of a day are offered. */
const MOST_DAYS = 21;
const DAYS_OFFERED = 3;
const MOST_A_DAY = 18;

interface Wanted {
  /** The first day. */
  from: string;
  minutes: number;
  /** Days of the week, Sunday 0; all if empty. */
  days?: readonly number[];
}

type Own<T> = T & { tutorId: string };

/** When tutors could teach. */
@Injectable()
export class FreeTimes {
  constructor(private readonly db: Database) {}

  /** The times on the first days that have some, by day, on the half hour if there are many; of each tutor, in their order. */
  async of(
    { organizationId, timeZone }: Membership,
    tutors: readonly string[],
    { from, minutes, days = [] }: Wanted,
  ): Promise<Timed[][][]> {
    const to = addDays(from, MOST_DAYS - 1);
    const reach = { from: startOfDay(from, timeZone), to: endOfDay(addDays(to, 1), timeZone) };
    const [rules, busy, timeOff] = await this.db.read<[Own<WeeklyHours>, Own<Timed>, Own<DaysOff>]>(
      { organizationId },
      ...calendarsOf(organizationId, sql`= ANY (${tutors}::uuid[])`, reach),
    );
    const found: Timed[][][] = [];
    for (const id of tutors) {
      const own = <T>(rows: Own<T>[]) => rows.filter(({ tutorId }) => tutorId === id);
      const calendar = { rules: own(rules), busy: own(busy), timeOff: own(timeOff) };
      const free = await inSlices(slots({ ...calendar, from, to, duration: minutes, now: new Date(), zone: timeZone }));
      const byDay = Map.groupBy(free, ({ startsAt }) => dayOf(startsAt, timeZone));
      const fitting = [...byDay].filter(([day]) => days.length === 0 || days.includes(dayOfWeek(day)));
      found.push(fitting.slice(0, DAYS_OFFERED).map(([, times]) => some(times)));
    }
    return found;
  }
}

function some(times: Timed[]): Timed[] {
  const even = times.filter(({ startsAt }) => startsAt.getTime() % 1_800_000 === 0);
  return (times.length > MOST_A_DAY && even.length > 0 ? even : times).slice(0, MOST_A_DAY);
}
