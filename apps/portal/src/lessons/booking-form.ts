import type { Env } from '@app/config';
import { VALUES } from '@app/database';
import { FIELDS, isFault } from '@app/fields';
import {
  instantAt,
  LAST_INSTANT,
  type Repeated,
  type Timed,
  timesOf,
  type WantedSession,
  type Who,
} from '@app/scheduling';
import type { Errors, Read } from '../web/answered.js';
import { idIn } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { queryOf } from '../web/paging.js';
import { inPages } from '../web/refusals.js';
import { isDay, isTime, readMinutes } from './lesson-forms.js';

/** The fields of a booking, in the address of its page and in its form. */
const NAMES = [
  'student', 'group', 'classroom', 'tutor', 'subject', 'mode', 'title', 'minutes', 'from', 'at', 'day', 'start', 'every', 'until', 'request',
] as const; // prettier-ignore

export type Asked = Record<(typeof NAMES)[number], string>;

/** Missing values are empty. */
export const askedBy = (given: (name: string) => unknown): Asked =>
  Object.fromEntries(NAMES.map((name) => [name, textOf(given(name))])) as Asked;

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The address of a page that is asked the same, but for what is changed. */
export const addressOf = (asked: Asked, changed: Partial<Asked> = {}): string => queryOf({ ...asked, ...changed });

/** Whom a lesson is for: a student, a group or a classroom; null if nobody was chosen. @throws PageError for what no page offers */
export function whoOf({ student, group, classroom }: Asked): Who | null {
  if (group) return { groupId: idIn(group) };
  if (classroom) return { classroomId: idIn(classroom) };
  return student ? { studentIds: [idIn(student)] } : null;
}

/** A lesson that somebody wants, with all of its times. */
export interface Booking {
  wanted: Omit<WantedSession, 'allowOverlap' | 'allowStudentOverlap'>;
  first: Timed;
  repeated: Repeated | null;
  times: Timed[];
}

/** @throws PageError for what no page offers */
export function readBooking(asked: Asked, timeZone: string, env: Env): Read<Booking> {
  const who = whoOf(asked);
  const mode = VALUES.sessions.mode.find((one) => one === asked.mode) ?? null;
  if (who === null || (asked.mode !== '' && mode === null)) throw PageError.badForm();
  const minutes = readMinutes(asked.minutes || '60', env);
  const startsAt = startIn(asked, timeZone, env);
  const every = asked.every === '' ? 0 : Number(asked.every);
  if (![0, 1, 2, 3, 4].includes(every)) throw PageError.badForm();
  const title = asked.title === '' ? null : FIELDS.sessions.title.parse(asked.title, env);
  const errors: Errors = {
    ...(minutes === null && { minutes: 'Enter 5 to 720 minutes.' }),
    ...(startsAt === null && { start: 'Choose a free time, or enter a day and a time such as 16:30.' }),
    ...(isFault(title) && { title: 'Enter up to 200 characters.' }),
    ...(every > 0 && !isDay(asked.until) && { until: 'Enter the last day of the series.' }),
  };
  if (minutes === null || startsAt === null || isFault(title) || Object.keys(errors).length > 0) return { errors };
  const first = { startsAt, endsAt: new Date(startsAt.getTime() + minutes * 60_000) };
  if (first.endsAt > LAST_INSTANT) return { errors: { start: 'Enter a day before the year 10000.' } };
  const repeated = every > 0 ? { everyWeeks: every, until: asked.until } : null;
  const times = repeated ? timesOf(first, repeated, timeZone) : [first];
  if (!Array.isArray(times)) return { errors: { until: inPages(times.reason) } };
  const people = { tutorId: idIn(asked.tutor), who, subject: asked.subject ? idIn(asked.subject) : null };
  const settled = {
    studentRateCents: null,
    tutorPayRateCents: null,
    meetingUrl: null,
    locationId: null,
    bookingRequestId: asked.request ? idIn(asked.request) : null,
  };
  return { value: { wanted: { ...people, ...settled, mode, title, status: 'scheduled' }, first, repeated, times } };
}

/** When it begins: a time that was offered, or one that was typed. */
function startIn({ at, day, start }: Asked, timeZone: string, env: Env): Date | null {
  if (start === '' && at !== '') {
    const instant = FIELDS.sessions.starts_at.parse(at, env);
    return isFault(instant) ? null : instant;
  }
  return isDay(day) && isTime(start) ? instantAt(day, start, timeZone) : null;
}
