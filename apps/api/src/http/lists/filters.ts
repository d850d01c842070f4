import sql, { type Sql } from 'sql-template-tag';
import type { DateBound } from '@app/database';

const DAY_MS = 86_400_000;

/** The API's calendar ends with the year 9999. */
const LAST_DAY = Date.UTC(9999, 11, 31);

/** How a column is compared with a parameter's value; null for no condition. */
export const COMPARISONS = {
  equals: (column: Sql, value: string | boolean | number) => sql`${column} = ${value}`,
  /** At or after an instant. */
  since: (column: Sql, { at }: DateBound) => sql`${column} >= ${at.toISOString()}`,
  /** At or before an instant; a day includes its last millisecond, the precision that is stored. */
  until: (column: Sql, bound: DateBound) => sql`${column} <= ${endOf(bound).toISOString()}`,
  /** On or after a day, for columns without a time: a bound within a day excludes that day. */
  sinceDay: (column: Sql, { at }: DateBound) =>
    sql`${column} >= ${isoDay(new Date(Math.min(Math.ceil(at.getTime() / DAY_MS) * DAY_MS, LAST_DAY)))}::date`,
  /** On or before a day, for columns without a time. */
  untilDay: (column: Sql, { at }: DateBound) => sql`${column} <= ${isoDay(at)}::date`,
  /** True rows only. Written without a parameter, like the predicates of partial indexes. */
  only: (column: Sql, on: boolean) => (on ? column : null),
  /** No true rows, unless wanted. */
  without: (column: Sql, on: boolean) => (on ? null : sql`NOT ${column}`),
};

export type Comparison = keyof typeof COMPARISONS;

/** The last millisecond of an upper bound. A day counts in full. */
export function endOf({ at, wholeDay }: DateBound): Date {
  return wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at;
}

/** Whether an upper bound ends before a lower one begins: nothing lies between them. */
export function isBefore(to: DateBound, from: DateBound): boolean {
  return endOf(to) < from.at;
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
