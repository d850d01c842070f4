import type { Env } from '@app/config';
import { parseDate } from '@app/database';
import { FIELDS, isFault } from '@app/fields';
import type { Refusal } from '@app/rules';
import { instantAt } from '@app/scheduling';
import type { Errors, Read } from '../web/answered.js';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';

/** When a lesson takes place, as somebody types it. */
export interface TypedTime {
  startsAt: Date;
  minutes: number;
}

/** Whether a change is of one lesson, or of all that follow in its series, too. */
export type Scope = 'one' | 'following';

/** The day, time and length of a lesson. @param timeZone the organization's */
export function readTime(form: Form, timeZone: string, env: Env): Read<TypedTime> {
  const [day, start] = [form.text('day'), form.text('start')];
  const minutes = readMinutes(form.text('minutes'), env);
  const errors: Errors = {
    ...(!isDay(day) && { day: 'Enter a day.' }),
    ...(!isTime(start) && { start: 'Enter a time such as 16:30.' }),
    ...(minutes === null && { minutes: 'Enter 5 to 720 minutes.' }),
  };
  if (minutes === null || Object.keys(errors).length > 0) return { errors };
  return { value: { startsAt: instantAt(day, start, timeZone), minutes } };
}

export const isDay = (text: string): boolean => parseDate(text)?.wholeDay === true;

/** Whether it is a time such as 16:30. */
export const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);

export function readMinutes(text: string, env: Env): number | null {
  const minutes = FIELDS.sessions.duration_minutes.parse(/^\d{1,4}$/.test(text) ? Number(text) : null, env);
  return isFault(minutes) ? null : minutes;
}

/** @throws PageError for what no page offers */
export function readScope(form: Form): Scope {
  const scope = form.text('scope') || 'one';
  if (scope === 'one' || scope === 'following') return scope;
  throw PageError.badForm();
}

/** Why a lesson is canceled, and what part of its price is charged. */
export function readCancellation(form: Form, env: Env): Read<{ reason: string | null; percent: number; scope: Scope }> {
  const [reason, chosen, scope] = [form.text('reason') || null, form.text('charge') || '0', readScope(form)];
  if (!['0', '50', '100', 'other'].includes(chosen)) throw PageError.badForm();
  const typed = chosen === 'other' ? form.text('percent') : chosen;
  const percent = /^\d{1,3}$/.test(typed) && Number(typed) <= 100 ? Number(typed) : null;
  const wrong = reason !== null && isFault(FIELDS.sessions.cancellation_reason.parse(reason, env));
  const errors: Errors = {
    ...(percent === null && { percent: 'Enter a part from 0 to 100 percent.' }),
    ...(wrong && { reason: 'Say why, in up to 500 characters.' }),
    ...(percent !== null && percent > 0 && scope === 'following' && { percent: 'Several lessons are canceled without a charge: charge for this one alone, then cancel those that follow.' }),
  }; // prettier-ignore
  return percent === null || Object.keys(errors).length > 0 ? { errors } : { value: { reason, percent, scope } };
}

const FIELD_OF: Record<string, string> = {
  starts_at: 'day',
  ends_at: 'minutes',
  duration_minutes: 'minutes',
  until: 'until',
  count: 'count',
};

/** Where the page shows what the rules refuse. */
export const fieldAt = ({ at }: Refusal): string => FIELD_OF[at.join('.')] ?? 'form';
