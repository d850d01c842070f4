import { VALUES } from '@app/database';
import { FIELDS, hoursOfDay } from '@app/fields';
import type { WantedLesson } from '@app/scheduling';
import {
  changeOf,
  Fault,
  field,
  inputOf,
  type Interdependent,
  kinds,
  orDefault,
  parameter,
  queryOf,
  TOGETHER,
} from '../../../http/kit.js';

const { preferred_mode: MODES } = VALUES.booking_requests;
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

const Hours = () => field.bodyField(hoursOfDay, { nullable: true, description: 'Such as `16:00-18:00`.' });

/** Hours by day, on the organization's clock. */
export class PreferredTimes implements Interdependent {
  @Hours() monday?: string[] | null;
  @Hours() tuesday?: string[] | null;
  @Hours() wednesday?: string[] | null;
  @Hours() thursday?: string[] | null;
  @Hours() friday?: string[] | null;
  @Hours() saturday?: string[] | null;
  @Hours() sunday?: string[] | null;

  [TOGETHER](): Fault[] {
    return DAYS.flatMap((day) => {
      const hours: unknown = this[day];
      return (Array.isArray(hours) ? hours : []).flatMap((one: unknown, at) => {
        const [start = '', end = ''] = typeof one === 'string' ? one.split('-') : [];
        return start && end <= start ? [new Fault('value_error', 'Must end after it begins.', [day, at])] : [];
      });
    });
  }
}

class Wishes {
  @field.IdOrCode({ nullable: true, description: 'The subject’s id or code.' })
  subject_id?: string | null;

  @field.OneOf(MODES, { nullable: true })
  preferred_mode?: WantedLesson['preferredMode'];

  @field.bodyField(FIELDS.booking_requests.preferred_days, { nullable: true })
  preferred_days?: string[] | null;

  @field.Nested(PreferredTimes, { nullable: true, description: 'Hours by day, on the organization’s clock.' })
  preferred_times?: PreferredTimes | null;

  @field.bodyField(FIELDS.booking_requests.duration_minutes, { nullable: true })
  duration_minutes?: number | null;

  @field.bodyField(FIELDS.booking_requests.message, { nullable: true })
  message?: string | null;
}

/** Omitted fields stay unchanged. */
export class UpdateBookingRequest extends Wishes {
  @field.OneOf(['pending', 'declined'])
  status?: 'pending' | 'declined';
}

/** A lesson that somebody wants. */
export class CreateBookingRequest extends Wishes implements Interdependent {
  @field.Uuid({ nullable: true, description: 'Required without `student_display_name`.' })
  student_id?: string | null;

  @field.bodyField(FIELDS.booking_requests.student_display_name, {
    nullable: true,
    description: 'Somebody who is not a student yet. Required without `student_id`.',
  })
  student_display_name?: string | null;

  [TOGETHER](): Fault[] {
    const known = (this.student_id ?? this.student_display_name ?? null) !== null;
    return known ? [] : [new Fault('missing', 'Send one of: student_id, student_display_name.', ['student_id'])];
  }
}

export function lessonOf(body: CreateBookingRequest): WantedLesson {
  return {
    ...inputOf(body),
    subject: body.subject_id ?? null,
    preferredDays: body.preferred_days ?? [],
    preferredTimes: hoursIn(body.preferred_times ?? null),
  };
}

/** What is to change; undefined fields stay. */
export function wishesOf(body: UpdateBookingRequest): Partial<WantedLesson> {
  const { preferred_days: days, preferred_times: times } = body;
  const {
    status: _status,
    subjectId: subject,
    preferredDays: _days,
    preferredTimes: _times,
    ...others
  } = changeOf(body);
  return {
    ...others,
    ...(subject !== undefined && { subject }),
    ...(days !== undefined && { preferredDays: days ?? [] }),
    ...(times !== undefined && { preferredTimes: hoursIn(times) }),
  };
}

function hoursIn(times: PreferredTimes | null): WantedLesson['preferredTimes'] {
  const given = Object.entries((times ?? {}) as Record<string, string[] | null | undefined>);
  return Object.fromEntries(given.filter((entry): entry is [string, string[]] => Array.isArray(entry[1])));
}

export const RecommendedQuery = queryOf([
  orDefault(parameter('limit', kinds.integer(1, 50), 'How many tutors at most.'), 10),
]);
export type RecommendedQuery = InstanceType<typeof RecommendedQuery>;
