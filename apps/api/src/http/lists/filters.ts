import sql, { type Sql } from 'sql-template-tag';
import type { DateBound } from '@app/database';
import { addDays, dayOf, endOfDay, startOfDay } from '@app/scheduling';
import type { Caller } from '../auth/caller.js';

const zoneOf = ({ organization }: Caller) => organization.timeZone;

/** How a column is compared with a parameter's value; null for no condition. Days are those of the organization's zone. */
export const COMPARISONS = {
  equals: (column: Sql, value: string | boolean | number) => sql`${column} = ${value}`,
  /** At or after an instant. */
  since: (column: Sql, bound: DateBound, by: Caller) => sql`${column} >= ${startOf(bound, zoneOf(by)).toISOString()}`,
  /** At or before an instant; a day includes its last millisecond, the precision that is stored. */
  until: (column: Sql, bound: DateBound, by: Caller) => sql`${column} <= ${endOf(bound, zoneOf(by)).toISOString()}`,
  /** On or after a day, for columns without a time: a bound within a day excludes that day. */
  sinceDay: (column: Sql, bound: DateBound, by: Caller) => sql`${column} >= ${firstWholeDay(bound, zoneOf(by))}::date`,
  /** On or before a day, for columns without a time. */
  untilDay: (column: Sql, bound: DateBound, by: Caller) => sql`${column} <= ${dayIn(bound, zoneOf(by))}::date`,
  /** True rows only. Written without a parameter, like the predicates of partial indexes. */
  only: (column: Sql, on: boolean) => (on ? column : null),
  /** No true rows, unless wanted. */
  without: (column: Sql, on: boolean) => (on ? null : sql`NOT ${column}`),
};

export type Comparison = keyof typeof COMPARISONS;

/** What lies between two bounds: instants, days without a time, and the bounds' own days. Null is no bound. */
export function periodOf({ from, to }: { from?: DateBound; to?: DateBound }, by: Caller) {
  const zone = zoneOf(by);
  const [firstDay, lastDay] = [from ? dayIn(from, zone) : null, to ? dayIn(to, zone) : null];
  return {
    firstDay,
    lastDay,
    since: from ? startOf(from, zone) : null,
    until: to ? endOf(to, zone) : null,
    sinceDay: from ? firstWholeDay(from, zone) : null,
    untilDay: lastDay,
  };
}

/** The first day that does not begin before a lower bound. */
function firstWholeDay(bound: DateBound, zone: string): string {
  const day = dayIn(bound, zone);
  return startOfDay(day, zone) < startOf(bound, zone) ? addDays(day, 1) : day;
}

/** The first instant of a lower bound. */
function startOf(bound: DateBound, zone: string): Date {
  return bound.wholeDay ? startOfDay(dayIn(bound, zone), zone) : bound.at;
}

/** The last millisecond of an upper bound. A day counts in full. */
function endOf(bound: DateBound, zone: string): Date {
  return bound.wholeDay ? endOfDay(dayIn(bound, zone), zone) : bound.at;
}

/** The day of a bound: as it was given, or the one that contains the instant. */
export function dayIn({ at, wholeDay }: DateBound, zone: string): string {
  return wholeDay ? at.toISOString().slice(0, 10) : dayOf(at, zone);
}

/** Whether an upper bound ends before a lower one begins. A day that the zone skipped, such as Apia's 2011-12-30, ends before it begins. */
export function isBefore(to: DateBound, from: DateBound, zone: string): boolean {
  const skipped = [to, from].some((bound) => endOf(bound, zone) < startOf(bound, zone));
  return !skipped && endOf(to, zone) < startOf(from, zone);
}
