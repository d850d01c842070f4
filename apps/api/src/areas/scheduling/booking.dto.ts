import { LAST_INSTANT, LONGEST, type SessionChange, SHORTEST, type WantedSession, type Who } from '@app/scheduling';
import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { Fault, field, inputOf, type Interdependent, TOGETHER } from '../../http/kit.js';

const STATUSES = ['pending', 'scheduled'] as const;
const WHO = ['student_id', 'student_ids', 'group_id', 'classroom_id'] as const;

/** What a new session and a change of one have in common. null means no value, or to leave the field out. */
class SessionFields {
  @field.Uuid({ nullable: true, description: 'The only student.' })
  student_id?: string | null;

  @field.Uuids({ min: 1, max: 50 }, { nullable: true, description: 'Several students.' })
  student_ids?: string[] | null;

  @field.Uuid({ nullable: true, description: 'The students who are in this group now. Its rate applies.' })
  group_id?: string | null;

  @field.Uuid({ nullable: true, description: 'The students who are in this classroom now.' })
  classroom_id?: string | null;

  @field.bodyField(FIELDS.sessions.ends_at, { nullable: true, description: 'Instead of `duration_minutes`.' })
  ends_at?: Date | null;

  @field.bodyField(FIELDS.sessions.duration_minutes, { nullable: true, description: 'Instead of `ends_at`.' })
  duration_minutes?: number | null;

  @field.bodyField(FIELDS.sessions.title, { nullable: true })
  title?: string | null;

  @field.OneOf(VALUES.sessions.mode, { nullable: true })
  mode?: WantedSession['mode'];

  @field.bodyField(FIELDS.sessions.meeting_url, {
    nullable: true,
    description:
      'Where it takes place online: https. Left out of a new session: that of the tutor, unless it is in person.',
  })
  meeting_url?: string | null;

  @field.Uuid({ nullable: true, description: 'Where it takes place: a location of the organization.' })
  location_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'The subject’s id or code.' })
  subject_id?: string | null;

  @field.bodyField(FIELDS.sessions.student_rate_cents, {
    nullable: true,
    description: 'What each student pays for an hour. Null, or left out of a new session: by the organization’s rates.',
  })
  student_rate_cents?: number | null;

  @field.bodyField(FIELDS.sessions.tutor_pay_rate_cents, {
    nullable: true,
    description: 'What the tutor gets for an hour. Null, or left out of a new session: by the organization’s rates.',
  })
  tutor_pay_rate_cents?: number | null;
}

/** A session that is to be booked. */
export class CreateSession extends SessionFields implements Interdependent {
  @field.Uuid({ required: true, description: 'An accepted tutor, admin or owner.' })
  tutor_id: string;

  @field.bodyField(FIELDS.sessions.starts_at, {
    required: true,
    description: 'On a whole minute; past times are allowed.',
  })
  starts_at: Date;

  @field.OneOf(STATUSES, { default: 'scheduled' })
  status: (typeof STATUSES)[number] = 'scheduled';

  @field.Flag({ default: false, description: 'Books it even if the tutor has another session at this time.' })
  allow_overlap = false;

  @field.Flag({
    default: true,
    description: 'False: not if a student who takes part has another session at this time.',
  })
  allow_student_overlap = true;

  @field.Uuid({ nullable: true, description: 'The pending booking request that it answers, which becomes `matched`.' })
  booking_request_id?: string | null;

  [TOGETHER](_zone: string): Fault[] {
    const faults = [...exactlyOne(this, WHO), ...exactlyOne(this, ['duration_minutes', 'ends_at'])];
    const { starts_at, ends_at } = this;
    if (starts_at instanceof Date && ends_at instanceof Date) faults.push(...lengthFaults(starts_at, ends_at));
    if (starts_at instanceof Date && !ends_at) faults.push(...yearFaults(starts_at, this.duration_minutes));
    return faults;
  }
}

/** Omitted fields stay unchanged. */
export class UpdateSession extends SessionFields implements Interdependent {
  @field.Uuid({ description: 'An accepted tutor, admin or owner.' })
  tutor_id?: string;

  @field.bodyField(FIELDS.sessions.starts_at, { description: 'Alone, it keeps the duration.' })
  starts_at?: Date;

  @field.OneOf(STATUSES, { description: '`scheduled` confirms a pending session.' })
  status?: (typeof STATUSES)[number];

  @field.Flag({ description: 'Moves it even if the tutor has another session at this time.' })
  allow_overlap?: boolean;

  @field.Flag({
    description:
      'False: not if a student who takes part has another session at this time. Asked of all if the time changes, or ' +
      'else of those who join.',
  })
  allow_student_overlap?: boolean;

  [TOGETHER](): Fault[] {
    const faults = [...atMostOne(this, WHO), ...atMostOne(this, ['duration_minutes', 'ends_at'])];
    const { starts_at, ends_at } = this;
    if (starts_at instanceof Date && ends_at instanceof Date) faults.push(...lengthFaults(starts_at, ends_at));
    if (starts_at instanceof Date && !ends_at) faults.push(...yearFaults(starts_at, LONGEST));
    return faults;
  }
}

const given = (body: object, names: readonly string[]): string[] =>
  names.filter((name) => ((body as Record<string, unknown>)[name] ?? null) !== null);

function exactlyOne(body: object, names: readonly string[]): Fault[] {
  if (given(body, names).length > 0) return atMostOne(body, names);
  return [new Fault('missing', `Send one of: ${names.join(', ')}.`, [names[0]!])];
}

function atMostOne(body: object, names: readonly string[]): Fault[] {
  const [first, ...more] = given(body, names);
  return more.map((name) => new Fault('value_error', `Send either this or ${first!}.`, [name]));
}

function lengthFaults(start: Date, end: Date): Fault[] {
  const minutes = (end.getTime() - start.getTime()) / 60_000;
  if (minutes >= SHORTEST && minutes <= LONGEST) return [];
  return [new Fault('value_error', `A session takes ${SHORTEST} to ${LONGEST} minutes.`, ['ends_at'])];
}

/** The API's calendar ends with the year 9999. */
function yearFaults(start: Date, minutes: unknown): Fault[] {
  const late = typeof minutes === 'number' && start.getTime() + minutes * 60_000 > LAST_INSTANT.getTime();
  return late ? [new Fault('value_error', 'The session must end in the year 9999 at the latest.', ['starts_at'])] : [];
}

function whoOf({ student_id, student_ids, group_id, classroom_id }: SessionFields): Who | undefined {
  if (group_id) return { groupId: group_id };
  if (classroom_id) return { classroomId: classroom_id };
  const ids = student_id ? [student_id] : student_ids;
  return ids ? { studentIds: ids } : undefined;
}

/** The session that a booking wants, and its first time. */
export function wantedBy(body: CreateSession) {
  const { starts_at: startsAt, duration_minutes: minutes } = body;
  const wanted: WantedSession = { ...inputOf(body), who: whoOf(body)!, subject: body.subject_id ?? null };
  return { wanted, time: { startsAt, endsAt: body.ends_at ?? new Date(startsAt.getTime() + (minutes ?? 0) * 60_000) } };
}

export function changeBy(body: UpdateSession): SessionChange {
  return {
    tutorId: body.tutor_id,
    who: whoOf(body),
    status: body.status,
    title: body.title,
    mode: body.mode,
    meetingUrl: body.meeting_url,
    locationId: body.location_id,
    subject: body.subject_id,
    studentRateCents: body.student_rate_cents,
    tutorPayRateCents: body.tutor_pay_rate_cents,
    allowOverlap: body.allow_overlap,
    allowStudentOverlap: body.allow_student_overlap,
    startsAt: body.starts_at,
    endsAt: body.ends_at ?? undefined,
    minutes: body.duration_minutes ?? undefined,
  };
}
