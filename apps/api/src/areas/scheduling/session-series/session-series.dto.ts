import type { DateBound } from '@app/database';
import { MOST_IN_SERIES } from '@app/scheduling';
import { Fault, field, kinds, TOGETHER } from '../../../http/kit.js';
import { CreateSession } from '../booking.dto.js';

/** A session that repeats. */
export class CreateSeries extends CreateSession {
  @field.Integer(1, 4, { required: true })
  every_weeks: number;

  @field.Integer(2, MOST_IN_SERIES, { description: 'How many sessions. Instead of `until`.' })
  count?: number;

  @field.Day({ description: 'The last day, in the organization’s time zone. Instead of `count`.' })
  until?: string;

  @field.Flag({ default: false, description: 'Leaves out times at which the tutor has another session.' })
  skip_conflicts = false;

  override [TOGETHER](): Fault[] {
    const faults = super[TOGETHER]();
    if (this.count === undefined && this.until === undefined) faults.push(new Fault('missing', 'Send one of: count, until.', ['count']));
    if (this.count !== undefined && this.until !== undefined) faults.push(new Fault('value_error', 'Send either this or count.', ['until']));
    return faults;
  }
}

/** From when on a series ends. */
export class CancelSeries {
  @field.bodyField(kinds.dateBound, {
    description:
      'The sessions that start at or after this; a day is one of the organization’s time zone. Now, if left out.',
  })
  from?: DateBound;
}
