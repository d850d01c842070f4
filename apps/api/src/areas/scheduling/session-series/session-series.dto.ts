import { type DateBound, VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { type Extent, MOST_IN_SERIES, type Repeated, type SeriesChange, timesOf } from '@app/scheduling';
import { Fault, field, type Interdependent, kinds, TOGETHER } from '../../../http/kit.js';
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
    const faults = [...super[TOGETHER](zone), ...extentFaults(this)];
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

/** Exactly one of the two. */
function extentFaults({ count = null, until = null }: { count?: number | null; until?: string | null }): Fault[] {
  if (count === null && until === null) return [new Fault('missing', 'Send one of: count, until.', ['count'])];
  if (count === null || until === null) return [];
  return [new Fault('value_error', 'Send either this or count.', ['until'])];
}

export const extentBy = ({ count, until }: { count?: number | null; until?: string | null }): Extent => ({
  count: count ?? undefined,
  until: until ?? undefined,
});

export const repeatedBy = (body: CreateSeries): Repeated => ({ everyWeeks: body.every_weeks, ...extentBy(body) });

/** From when on a series ends. */
export class CancelSeries {
  @field.bodyField(kinds.dateBound, {
    nullable: true,
    description:
      'The sessions that start at or after this; a day is one of the organization’s time zone. Now, if left out.',
  })
  from?: DateBound | null;
}

/** By how much a series goes on. */
export class ExtendSeries implements Interdependent {
  @field.Integer(1, MOST_IN_SERIES, { nullable: true, description: 'How many sessions more. Instead of `until`.' })
  count?: number | null;

  @field.Day({ nullable: true, description: 'The last day, in the organization’s time zone. Instead of `count`.' })
  until?: string | null;

  @field.Flag({ default: false, description: 'Leaves out times that are taken.' })
  skip_conflicts = false;

  [TOGETHER](): Fault[] {
    return extentFaults(this);
  }
}

/** What changes of the rest of a series. Omitted fields stay unchanged. */
export class UpdateSeries {
  @field.bodyField(kinds.dateBound, {
    nullable: true,
    description:
      'The sessions that start at or after this; a day is one of the organization’s time zone. Now, if left out.',
  })
  from?: DateBound | null;

  @field.bodyField(FIELDS.sessions.starts_at, {
    description: 'When the first of them starts from now on, on a whole minute; the others follow.',
  })
  starts_at?: Date;

  @field.bodyField(FIELDS.sessions.duration_minutes)
  duration_minutes?: number;

  @field.Uuid({ description: 'An accepted tutor, admin or owner.' })
  tutor_id?: string;

  @field.IdOrCode({ nullable: true, description: 'The subject’s id or code.' })
  subject_id?: string | null;

  @field.OneOf(VALUES.sessions.mode, { nullable: true })
  mode?: SeriesChange['mode'];

  @field.bodyField(FIELDS.sessions.meeting_url, { nullable: true, description: 'Where they take place online: https.' })
  meeting_url?: string | null;

  @field.Uuid({ nullable: true, description: 'Where they take place: a location of the organization.' })
  location_id?: string | null;

  @field.bodyField(FIELDS.sessions.student_rate_cents, {
    nullable: true,
    description: 'What each student pays for an hour. Null: by the organization’s rates.',
  })
  student_rate_cents?: number | null;

  @field.bodyField(FIELDS.sessions.tutor_pay_rate_cents, {
    nullable: true,
    description: 'What the tutor gets for an hour. Null: by the organization’s rates.',
  })
  tutor_pay_rate_cents?: number | null;

  @field.Flag({ description: 'Moves them even if the tutor has another session at the time.' })
  allow_overlap?: boolean;

  @field.Flag({ default: false, description: 'Leaves sessions as they are whose new time is taken.' })
  skip_conflicts = false;
}

export const seriesChangeBy = (body: UpdateSeries): SeriesChange => ({
  startsAt: body.starts_at,
  minutes: body.duration_minutes,
  tutorId: body.tutor_id,
  subject: body.subject_id,
  mode: body.mode,
  meetingUrl: body.meeting_url,
  locationId: body.location_id,
  studentRateCents: body.student_rate_cents,
  tutorPayRateCents: body.tutor_pay_rate_cents,
  allowOverlap: body.allow_overlap,
});
