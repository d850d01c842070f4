import sql, { raw, type Sql } from 'sql-template-tag';
import type { DateBound } from '@app/database';

const DAY_MS = 86_400_000;

/** The last millisecond of an upper bound: a day counts whole. */
export function endOf({ at, wholeDay }: DateBound): Date {
  return wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at;
}

/** Whether an upper bound ends before a lower one begins: nothing lies between them. */
export function isBefore(to: DateBound, from: DateBound): boolean {
  return endOf(to) < from.at;
}

/** The API's calendar ends with the year 9999. */
const LAST_DAY = Date.UTC(9999, 11, 31);

/** `column = value`, or null without a filter. The column comes from code, never from input. */
export function equals(column: string, value: string | boolean | undefined): Sql | null {
  return value === undefined ? null : sql`${raw(column)} = ${value}`;
}

/** At or after an instant. */
export function since(column: string, bound: DateBound | undefined): Sql | null {
  return bound ? sql`${raw(column)} >= ${bound.at.toISOString()}` : null;
}

/** At or before an instant; a day includes its last millisecond, the precision that is stored. */
export function until(column: string, bound: DateBound | undefined): Sql | null {
  return bound ? sql`${raw(column)} <= ${endOf(bound).toISOString()}` : null;
}

/** On or after a day, for columns without a time: a bound within a day excludes that day. */
export function sinceDay(column: string, bound: DateBound | undefined): Sql | null {
  if (!bound) return null;
  const day = new Date(Math.min(Math.ceil(bound.at.getTime() / DAY_MS) * DAY_MS, LAST_DAY));
  return sql`${raw(column)} >= ${isoDay(day)}::date`;
}

/** On or before a day, for columns without a time. */
export function untilDay(column: string, bound: DateBound | undefined): Sql | null {
  return bound ? sql`${raw(column)} <= ${isoDay(bound.at)}::date` : null;
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
