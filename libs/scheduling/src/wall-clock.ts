import { Temporal } from 'temporal-polyfill';

/**
 * Arithmetic on the clock on the wall. A time that a change of the clocks skips moves forward by the gap; one that
 * happens twice is the earlier. Days are `YYYY-MM-DD`, times `HH:MM`, zones the names of the IANA database.
 */

/** The API's calendar ends with the year 9999: neither JavaScript's nor PostgreSQL's timestamps have four digits of the year beyond it. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const within = (ms: number) => Math.min(Math.max(ms, FIRST_MS), LAST_MS);

function written(date: Temporal.PlainDate): string {
  if (date.year > 9999) return '9999-12-31';
  return date.year < 1 ? '0001-01-01' : date.toString();
}

/** The instant of a time of day. `24:00` is the end of the day. */
export function instantAt(day: string, time: string, zone: string): Date {
  const ends = time === '24:00';
  const date = Temporal.PlainDate.from(day).add({ days: ends ? 1 : 0 });
  const local = date.toPlainDateTime(ends ? undefined : Temporal.PlainTime.from(time));
  return new Date(within(local.toZonedDateTime(zone).epochMilliseconds));
}

/** The first instant of a day. Where the clocks change at midnight, that is not 00:00. */
export function startOfDay(day: string, zone: string): Date {
  return new Date(within(firstMs(Temporal.PlainDate.from(day), zone)));
}

/** The last millisecond of a day, the precision that is stored. */
export function endOfDay(day: string, zone: string): Date {
  return new Date(within(firstMs(Temporal.PlainDate.from(day).add({ days: 1 }), zone) - 1));
}

const firstMs = (date: Temporal.PlainDate, zone: string) => date.toZonedDateTime(zone).epochMilliseconds;

/** The day that a calendar on the wall shows at this instant. */
export function dayOf(at: Date, zone: string): string {
  return written(localOf(at, zone).toPlainDate());
}

function localOf(at: Date, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
}

/** The day so many days later; earlier if negative. */
export function addDays(day: string, days: number): string {
  return written(Temporal.PlainDate.from(day).add({ days }));
}

/** How many days the first day is before the other; negative if it is after. */
export function daysBetween(day: string, other: string): number {
  return Temporal.PlainDate.from(day).until(Temporal.PlainDate.from(other)).days;
}

/** The day of the week as the API counts: 0 is Sunday. */
export function dayOfWeek(day: string): number {
  return Temporal.PlainDate.from(day).dayOfWeek % 7;
}

/** How a series repeats: so many times at most, and until an instant, which it may reach. */
export type Repetition = {
  startsAt: Date;
  zone: string;
  everyWeeks: number;
} & ({ count: number; until?: Date } | { count?: undefined; until: Date });

/**
 * When a series takes place: every so many weeks at the same time of the wall clock, the first time included. The caller
 * bounds `count` and `until`.
 */
export function occurrences({ startsAt, zone, everyWeeks, count, until }: Repetition): Date[] {
  const first = localOf(startsAt, zone).toPlainDateTime();
  const found = [startsAt];
  for (let index = 1; count === undefined || index < count; index++) {
    const next = new Date(first.add({ weeks: index * everyWeeks }).toZonedDateTime(zone).epochMilliseconds);
    if (next.getTime() > Math.min(until?.getTime() ?? LAST_MS, LAST_MS)) break;
    found.push(next);
  }
  return found;
}

/** How far a time of the wall clock is moved: so many days, to a time of day. */
export interface Shift {
  days: number;
  time: string;
}

/** What moves one instant to another. */
export function shiftOf(from: Date, to: Date, zone: string): Shift {
  const time = localOf(to, zone).toPlainTime().toString({ smallestUnit: 'minute' });
  return { days: daysBetween(dayOf(from, zone), dayOf(to, zone)), time };
}

/** An instant that is moved in the same way. */
export function shifted(at: Date, { days, time }: Shift, zone: string): Date {
  return instantAt(addDays(dayOf(at, zone), days), time, zone);
}
