import { FIELDS } from '@app/fields';
import { overlappingRules } from '@app/scheduling';
import { Fault, field, type Interdependent, OrList, TOGETHER } from '../../../http/kit.js';

export class WeeklyHour implements Interdependent {
  @field.bodyField(FIELDS.availabilities.day_of_week, { required: true, description: '0 is Sunday.' })
  day_of_week: number;

  @field.bodyField(FIELDS.availabilities.start_time, { required: true, description: 'On the clock on the wall.' })
  start_time: string;

  @field.bodyField(FIELDS.availabilities.end_time, {
    required: true,
    description: 'After the start. `24:00` is the end of the day.',
  })
  end_time: string;

  @field.bodyField(FIELDS.availabilities.timezone, {
    nullable: true,
    description: "Whose clock it is: the organization's unless given.",
  })
  timezone?: string | null;

  [TOGETHER](): Fault[] {
    const [start, end] = [this.start_time, this.end_time] as unknown[];
    const reversed = typeof start === 'string' && typeof end === 'string' && end <= start;
    return reversed ? [new Fault('value_error', 'Must be after "start_time".', ['end_time'])] : [];
  }
}

@OrList('availabilities')
export class ReplaceAvailabilities implements Interdependent {
  @field.Objects(WeeklyHour, { max: 100 }, { required: true, description: 'All weekly hours; an empty list for none.' })
  availabilities: WeeklyHour[];

  [TOGETHER](zone: string): Fault[] {
    if (!Array.isArray(this.availabilities)) return [];
    const message = 'Must not overlap other hours of the same day.';
    const rules = this.availabilities.map(({ day_of_week, start_time, end_time, timezone }) => ({
      dayOfWeek: day_of_week,
      startTime: start_time,
      endTime: end_time,
      timezone: timezone ?? zone,
    }));
    return overlappingRules(rules).map((at) => new Fault('value_error', message, ['availabilities', at]));
  }
}

export class Absence implements Interdependent {
  @field.Day({ required: true, description: 'The first day.' })
  starts_on: string;

  @field.Day({ required: true, description: 'The last day.' })
  ends_on: string;

  @field.bodyField(FIELDS.time_off.note, { nullable: true })
  note?: string | null;

  [TOGETHER](): Fault[] {
    const [start, end] = [this.starts_on, this.ends_on] as unknown[];
    const reversed = typeof start === 'string' && typeof end === 'string' && end < start;
    return reversed ? [new Fault('value_error', 'Must not be before "starts_on".', ['ends_on'])] : [];
  }
}

@OrList('time_off')
export class ReplaceTimeOff implements Interdependent {
  @field.Objects(Absence, { max: 200 }, { required: true, description: 'All time off; an empty list for none.' })
  time_off: Absence[];

  [TOGETHER](): Fault[] {
    if (!Array.isArray(this.time_off)) return [];
    const known = this.time_off.map(({ starts_on, ends_on, note }) =>
      JSON.stringify([starts_on, ends_on, note ?? null]),
    );
    return known.flatMap((one, at) =>
      known.indexOf(one) === at
        ? []
        : [new Fault('value_error', 'Must not repeat earlier time off.', ['time_off', at])],
    );
  }
}
