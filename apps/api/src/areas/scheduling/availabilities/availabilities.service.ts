import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { inSlices } from '@app/concurrency';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { addDays, type DaysOff, endOfDay, slots, startOfDay, type Timed, type WeeklyHours } from '@app/scheduling';
import { Audit, type Caller, dayIn, Lists } from '../../../http/kit.js';
import type { ReplaceAvailabilities, ReplaceTimeOff } from './availabilities.dto.js';
import {
  additions, calendarOf, DAYS_OFF, HOURS, lockedTutor, removals, type SlotsQuery, TIME_OFF, WEEKLY_HOURS,
} from './availabilities.queries.js'; // prettier-ignore

@Injectable()
export class AvailabilitiesService {
  constructor(
    private readonly db: Database,
    private readonly lists: Lists,
    private readonly audit: Audit,
  ) {}

  /** When a tutor can be booked: never, unless accepted. @throws Refused for a tutor who does not exist */
  async slots(caller: Caller, tutorId: string, { from, to, duration }: SlotsQuery) {
    const zone = caller.organization.timeZone;
    const [first, last] = [dayIn(from, zone), dayIn(to, zone)];
    // A slot ends at most 12 hours after the last day: within the next one.
    const reach = [startOfDay(first, zone), endOfDay(addDays(last, 1), zone)] as const;
    const [[tutor], rules, busy, timeOff] = await this.db.read<[{ status: string }, WeeklyHours, Timed, DaysOff]>(
      caller,
      ...calendarOf(caller, tutorId, ...reach),
    );
    if (!tutor) throw Refused.notFound();
    const calendar = { rules, busy, timeOff, from: first, to: last, duration, now: new Date(), zone };
    const free = tutor.status === 'accepted' ? await inSlices(slots(calendar)) : [];
    return {
      tutor_id: tutorId,
      duration_minutes: duration,
      from_date: first,
      to_date: last,
      slots: free.map(({ startsAt, endsAt }) => ({ starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() })),
    };
  }

  /** @throws Refused for a tutor who does not exist */
  async replaceHours(caller: Caller, tutorId: string, { availabilities }: ReplaceAvailabilities) {
    const zone = caller.organization.timeZone;
    const hours = availabilities.map((one) => Object.assign({}, one, { timezone: one.timezone ?? zone }));
    await this.replace(caller, tutorId, WEEKLY_HOURS, hours);
    return this.lists.written(caller, HOURS, { tutor_id: tutorId });
  }

  /** @throws Refused for a tutor who does not exist */
  async replaceTimeOff(caller: Caller, tutorId: string, { time_off }: ReplaceTimeOff) {
    await this.replace(caller, tutorId, DAYS_OFF, time_off);
    return this.lists.written(caller, TIME_OFF, { tutor_id: tutorId });
  }

  /** Makes these the rows of the tutor. Rows that are there already stay as they are. */
  private async replace(caller: Caller, tutorId: string, of: typeof WEEKLY_HOURS, wanted: object[]) {
    if ((await this.db.query(lockedTutor(caller, tutorId))).length === 0) throw Refused.notFound();
    this.audit.note({ tutor_id: tutorId });
    const rows = wanted.map((row) => Object.assign({ id: uuidv7() }, row));
    await this.db.query(removals(caller, tutorId, of, rows));
    await this.db.query(additions(caller, tutorId, of, rows));
  }
}
