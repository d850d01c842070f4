import type { DateBound } from '@app/database';
import { MOST_IN_SERIES, type Repeated, timesOf } from '@app/scheduling';
import { Fault, field, kinds, TOGETHER } from '../../../http/kit.js';
import { CreateSession, wantedBy } from '../booking.dto.js';

/** A session that repeats. */
export class CreateSeries extends CreateSession {
  @field.Integer(1, 4, { required: true })
  every_weeks: number;

  @field.Integer(2, MOST_IN_SERIES, { nullable: true, description: 'How many sessions. Instead of `until`.' })
  count?: number | null;

  @field.Day({ nullable: true, description: 'The last day, in the organization’s time zone. Instead of `count`.' })
  until?: string | null;

  @field.Flag({ default: false, description: 'Leaves out times that are taken.' })
  skip_conflicts = false;

  override [TOGETHER](zone: string): Fault[] {
    const [count, until] = [this.count ?? null, this.until ?? null];
    const faults = super[TOGETHER](zone);
    if (count === null && until === null) faults.push(new Fault('missing', 'Send one of: count, until.', ['count']));
    if (count !== null && until !== null)
      faults.push(new Fault('value_error', 'Send either this or count.', ['until']));
    if (faults.length === 0) faults.push(...this.repetitionFaults(zone));
    return faults;
  }

  /** Of the series' times, once what they depend on could be read. */
  private repetitionFaults(zone: string): Fault[] {
    const { starts_at, ends_at, duration_minutes, every_weeks, count, until } = this;
    const needed: unknown[] = [
      starts_at,
      every_weeks,
      ends_at ?? null,
      duration_minutes ?? null,
      count ?? null,
      until ?? null,
    ];
    if (needed.some((field) => field === undefined || field instanceof Fault)) return [];
    const times = timesOf(wantedBy(this).time, repeatedBy(this), zone);
    return Array.isArray(times) ? [] : [new Fault('value_error', times.reason, times.at)];
  }
}

export const repeatedBy = ({ every_weeks, count, until }: CreateSeries): Repeated => ({
  everyWeeks: every_weeks,
  count: count ?? undefined,
  until: until ?? undefined,
});

/** From when on a series ends. */
export class CancelSeries {
  @field.bodyField(kinds.dateBound, {
    nullable: true,
    description:
      'The sessions that start at or after this; a day is one of the organization’s time zone. Now, if left out.',
  })
  from?: DateBound | null;
}
