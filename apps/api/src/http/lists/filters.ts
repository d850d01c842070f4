import sql, { raw, type Sql } from 'sql-template-tag';
import type { DateBound } from '@app/database';

const DAY_MS = 86_400_000;

/** The last millisecond of an upper bound. A day counts in full. */
export function endOf({ at, wholeDay }: DateBound): Date {
  return wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at;
}

/** Whether an upper bound ends before a lower one begins: nothing lies between them. */
export function isBefore(to: DateBound, from: DateBound): boolean {
  return endOf(to) < from.at;
}

/** The API's calendar ends with the year 9999. */
const LAST_DAY = Date.UTC(9999, 11, 31);

/** A condition on a column of the driving table, given that table's alias. */
export type Filter = (alias: string) => Sql;

/** `column = value`, or null without a filter. The column comes from code, never from input. */
export function equals(column: string, value: string | boolean | undefined): Filter | null {
  return value === undefined ? null : compare(column, sql`= ${value}`);
}

/** At or after an instant. */
export function since(column: string, bound: DateBound | undefined): Filter | null {
  return bound ? compare(column, sql`>= ${bound.at.toISOString()}`) : null;
}

/** At or before an instant; a day includes its last millisecond, the precision that is stored. */
export function until(column: string, bound: DateBound | undefined): Filter | null {
  return bound ? compare(column, sql`<= ${endOf(bound).toISOString()}`) : null;
}

/** On or after a day, for columns without a time: a bound within a day excludes that day. */
export function sinceDay(column: string, bound: DateBound | undefined): Filter | null {
  if (!bound) return null;
  const day = new Date(Math.min(Math.ceil(bound.at.getTime() / DAY_MS) * DAY_MS, LAST_DAY));
  return compare(column, sql`>= ${isoDay(day)}::date`);
}

/** On or before a day, for columns without a time. */
export function untilDay(column: string, bound: DateBound | undefined): Filter | null {
  return bound ? compare(column, sql`<= ${isoDay(bound.at)}::date`) : null;
}

function compare(column: string, comparison: Sql): Filter {
  return (alias) => sql`${raw(`${alias}.${column}`)} ${comparison}`;
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
