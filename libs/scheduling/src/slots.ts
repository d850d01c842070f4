import type { Timed } from './overlap.js';
import { addDays, dayOf, dayOfWeek, daysBetween, endOfDay, instantAt, startOfDay } from './wall-clock.js';

/** When a tutor teaches every week, by the clock on the wall of a zone. */
export interface WeeklyHours {
  /** 0 is Sunday. */
  dayOfWeek: number;
  startTime: string;
  /** May be `24:00`. */
  endTime: string;
  timezone: string;
}

/** Days on which a tutor does not teach, both included. */
export interface DaysOff {
  startsOn: string;
  endsOn: string;
}

/** What the slots of a tutor depend on. */
export interface Calendar {
  rules: readonly WeeklyHours[];
  /** The tutor's sessions. */
  busy: readonly Timed[];
  timeOff: readonly DaysOff[];
  /** Days of `zone`, both included: slots start on them. */
  from: string;
  to: string;
  /** Minutes. */
  duration: number;
  now: Date;
  /** The organization's, in which days are meant. */
  zone: string;
}

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 1_440 * MINUTE_MS;

/** Zones are at most 26 hours apart: what is on a day in one is at most two days away in another. */
const DAYS_AROUND = 2;

/** From its start, up to but without its end (ms). */
type Interval = readonly [start: number, end: number];

/**
 * The times at which a lesson could be booked, in order: within the weekly hours, where touching and overlapping ones
 * count as one; on the quarter hour, which is the same in all zones; not in the past, nor beside a session or a day off.
 * Two months of a busy tutor take 20 ms, so it yields on the way.
 */
export function* slots({ rules, busy, timeOff, from, to, duration, now, zone }: Calendar): Generator<void, Timed[]> {
  const first = Math.max(startOfDay(from, zone).getTime(), now.getTime());
  const last = endOfDay(to, zone).getTime();
  const unavailable = busy.map(({ startsAt, endsAt }): Interval => [startsAt.getTime(), endsAt.getTime()]);
  for (const { startsOn, endsOn } of timeOff) {
    unavailable.push([startOfDay(startsOn, zone).getTime(), endOfDay(endsOn, zone).getTime() + 1]);
    yield;
  }
  const taken = merged(unavailable);
  const length = duration * MINUTE_MS;
  const found: Timed[] = [];
  for (const [start, end] of without(merged(yield* openHours(rules, from, to)), taken)) {
    let at = Math.ceil(Math.max(start, first) / QUARTER_MS) * QUARTER_MS;
    for (; at <= last && at + length <= end; at += QUARTER_MS) {
      found.push({ startsAt: new Date(at), endsAt: new Date(at + length) });
    }
    yield;
  }
  return found;
}

/** Those of the times that are not wholly within the weekly hours; none if no hours are known. @param zone the organization's */
export function outsideHours<T extends Timed>(rules: readonly WeeklyHours[], times: readonly T[], zone: string): T[] {
  if (rules.length === 0) return [];
  return times.filter(({ startsAt, endsAt }) => {
    const open = openHours(rules, dayOf(startsAt, zone), dayOf(endsAt, zone));
    let step = open.next();
    while (!step.done) step = open.next();
    return !merged(step.value).some(([start, end]) => start <= startsAt.getTime() && endsAt.getTime() <= end);
  });
}

/** The first so many slots of several tutors, by their start. */
export function* slotsOfAll(
  calendars: readonly (Calendar & { tutorId: string })[],
  most: number,
): Generator<void, (Timed & { tutorId: string })[]> {
  let first: (Timed & { tutorId: string })[] = [];
  for (const { tutorId, ...calendar } of calendars) {
    const own = yield* slots(calendar);
    first.push(...own.slice(0, most).map((time) => ({ ...time, tutorId })));
    first.sort(
      (one, other) => one.startsAt.getTime() - other.startsAt.getTime() || (one.tutorId < other.tutorId ? -1 : 1),
    );
    first = first.slice(0, most);
    yield;
  }
  return first;
}

/**
 * The weekly hours on these days and around them. A change of the clocks may leave nothing of one. Where it changes
 * nothing, a time of day is so many minutes after the start of the day, which takes a fifth of the time to find.
 */
function* openHours(rules: readonly WeeklyHours[], from: string, to: string): Generator<void, Interval[]> {
  const first = addDays(from, -DAYS_AROUND);
  const length = daysBetween(first, addDays(to, DAYS_AROUND));
  const days = Array.from({ length: length + 2 }, (_, ahead) => addDays(first, ahead));
  const open: Interval[] = [];
  for (const [timezone, own] of Map.groupBy(rules, (rule) => rule.timezone)) {
    const starts: number[] = [];
    for (const day of days) {
      starts.push(startOfDay(day, timezone).getTime());
      yield;
    }
    const at = (ahead: number, time: string) =>
      starts[ahead + 1]! - starts[ahead]! === DAY_MS
        ? starts[ahead]! + (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * MINUTE_MS
        : instantAt(days[ahead]!, time, timezone).getTime();
    for (const { dayOfWeek: wanted, startTime, endTime } of own) {
      for (let ahead = (wanted - dayOfWeek(first) + 7) % 7; ahead <= length; ahead += 7) {
        const [start, end] = [at(ahead, startTime), at(ahead, endTime)];
        if (start < end) open.push([start, end]);
      }
      yield;
    }
  }
  return open;
}

/** In order, with those that touch or overlap as one. */
function merged(intervals: readonly Interval[]): Interval[] {
  const found: [number, number][] = [];
  for (const [start, end] of [...intervals].sort(([one], [other]) => one - other)) {
    const before = found.at(-1);
    if (before && start <= before[1]) before[1] = Math.max(before[1], end);
    else found.push([start, end]);
  }
  return found;
}

/** What is left of the open intervals without those that are taken; both are in order and do not touch. */
function without(open: readonly Interval[], taken: readonly Interval[]): Interval[] {
  const left: Interval[] = [];
  let next = 0;
  for (const [start, end] of open) {
    let from = start;
    while (next < taken.length && taken[next]![1] <= from) next++;
    for (let index = next; index < taken.length && taken[index]![0] < end; index++) {
      if (from < taken[index]![0]) left.push([from, taken[index]![0]]);
      from = Math.max(from, taken[index]![1]);
    }
    if (from < end) left.push([from, end]);
  }
  return left;
}

/** Places of rules that overlap an earlier one of their day and zone. Ones that touch do not. */
export function overlappingRules(rules: readonly WeeklyHours[]): number[] {
  const ordered = rules
    .map((rule, index) => ({ ...rule, index, day: `${rule.dayOfWeek} ${rule.timezone}` }))
    .sort((one, other) => (one.day + one.startTime < other.day + other.startTime ? -1 : 1));
  const found: number[] = [];
  let [day, end] = ['', ''];
  for (const rule of ordered) {
    if (rule.day === day && rule.startTime < end) found.push(rule.index);
    end = rule.day === day && end > rule.endTime ? end : rule.endTime;
    day = rule.day;
  }
  return found.sort((one, other) => one - other);
}
