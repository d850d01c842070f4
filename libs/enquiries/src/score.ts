/** Hours of a week, as minutes since its start on Sunday. An end may lie in the next week. */
export type WeekHours = readonly [start: number, end: number];

/** The lesson that a tutor is sought for. */
export interface Wish {
  /** Null if none is asked for: then everybody teaches it. */
  subject: string | null;
  mode: 'online' | 'in_person' | 'either' | null;
  /** `monday` and so on. */
  days: readonly string[];
  /** By day, hours such as `16:00-18:00`. */
  times: Readonly<Record<string, readonly string[]>>;
  minutes: number | null;
  /** Where the student lives. */
  postcode: string | null;
}

/** What is known of a tutor. */
export interface Candidate {
  id: string;
  teaches: boolean;
  mode: 'online' | 'in_person' | 'both' | null;
  /** By the clock of the wish. */
  hours: readonly WeekHours[];
  /** Sessions ahead. */
  upcoming: number;
  /** From the student; null if either place is unknown. */
  distanceKm: number | null;
  /** By road; null if it is not known. */
  roadMinutes: number | null;
  /** Whether the tutor teaches where the student lives. */
  covers: boolean;
}

/** The most points for each part: 100 together. */
export const MOST = { subject: 40, availability: 25, mode: 15, capacity: 10, distance: 10 } as const;

export type Breakdown = Record<keyof typeof MOST, number>;

export interface Scored<Person extends Candidate = Candidate> {
  candidate: Person;
  /** The sum of the parts. */
  score: number;
  breakdown: Breakdown;
  reasons: string[];
}

/** A lesson of which nobody said how long it takes (minutes). */
const USUAL = 60;

/** At this number of sessions ahead, half of the points for capacity are left. */
const HALF_FULL = 20;

/** Beyond this distance (km) there are no points for it. */
const FAR = 50;

export const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const DAY = 1_440;
const WEEK = 7 * DAY;

/**
 * Tutors for a lesson, the best first. Parts are whole points, so that they add up exactly. For somebody who does not teach
 * the subject, the others count half: at most 31 points, fewer than the 40 of everybody who does. Of equal scores, the one with
 * fewer sessions ahead comes first, then the lower id.
 */
export function ranked<Person extends Candidate>(wish: Wish, candidates: readonly Person[]): Scored<Person>[] {
  return candidates
    .map((candidate) => scoreOf(wish, candidate))
    .sort((one, other) => other.score - one.score || comesFirst(one.candidate, other.candidate));
}

const comesFirst = (one: Candidate, other: Candidate) =>
  one.upcoming - other.upcoming || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

function scoreOf<Person extends Candidate>(wish: Wish, candidate: Person): Scored<Person> {
  const { teaches, upcoming, distanceKm } = candidate;
  const { served, wanted } = daysServed(wish, candidate.hours);
  const suits = modeSuits(wish.mode, candidate.mode);
  const near = wish.mode === 'online' ? 1 : distanceKm === null ? 0 : Math.max(0, 1 - distanceKm / FAR);
  const points = (most: number, share: number) => Math.round(most * share * (teaches ? 1 : 0.5));
  const breakdown: Breakdown = {
    subject: teaches ? MOST.subject : 0,
    availability: points(MOST.availability, served / wanted),
    mode: points(MOST.mode, suits ? 1 : 0),
    capacity: points(MOST.capacity, HALF_FULL / (HALF_FULL + upcoming)),
    distance: points(MOST.distance, near),
  };
  const score = Object.values(breakdown).reduce((sum, part) => sum + part, 0);
  return { candidate, score, breakdown, reasons: reasonsOf(wish, candidate, served, suits) };
}

function reasonsOf(wish: Wish, candidate: Candidate, served: number, suits: boolean): string[] {
  const { subject, postcode, mode } = wish;
  const { teaches, upcoming, distanceKm, roadMinutes, covers } = candidate;
  const days = wantedDays(wish).length;
  return [
    ...(subject === null ? [] : [teaches ? `Teaches ${subject}` : `Does not teach ${subject}`]),
    ...(served === 0 ? [] : [days === 0 ? 'Free that week' : `Has time on ${served} of ${days} preferred days`]),
    ...(suits && (mode === 'online' || mode === 'in_person') ? [`Teaches ${mode === 'online' ? 'online' : 'in person'}`] : []),
    `${upcoming} ${upcoming === 1 ? 'session' : 'sessions'} ahead`,
    ...(distanceKm === null || mode === 'online' ? [] : [`${distanceKm} km away`]),
    ...(roadMinutes === null || mode === 'online' ? [] : [`${roadMinutes} ${roadMinutes === 1 ? 'minute' : 'minutes'} by road`]),
    ...(covers && postcode !== null && mode !== 'online' ? [`Teaches in ${postcode}`] : []),
  ]; // prettier-ignore
}

function modeSuits(wanted: Wish['mode'], taught: Candidate['mode']): boolean {
  return wanted === null || wanted === 'either' || taught === 'both' || taught === wanted;
}

const wantedDays = ({ days, times }: Wish) => DAYS.filter((day) => days.includes(day) || (times[day] ?? []).length > 0);

/** On how many of the preferred days the tutor has time for the lesson; without any, whether there is time at all. */
function daysServed(wish: Wish, hours: readonly WeekHours[]): { served: number; wanted: number } {
  const minutes = wish.minutes ?? USUAL;
  const open = merged(hours);
  const fits = (from: number, to: number) =>
    open.some(([start, end]) => Math.min(end, to) - Math.max(start, from) >= minutes);
  const days = wantedDays(wish);
  if (days.length === 0) return { served: fits(0, WEEK) ? 1 : 0, wanted: 1 };
  const served = days.filter((day) => {
    const start = DAYS.indexOf(day) * DAY;
    const times = wish.times[day] ?? [];
    return (times.length > 0 ? times : ['00:00-24:00']).some((time) => {
      const [from = 0, to = 0] = time.split('-').map(minutesOf);
      return fits(start + from, start + to);
    });
  });
  return { served: served.length, wanted: days.length };
}

/** The minutes since midnight of a time such as `16:30`. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** In order, with hours that touch as one. Those that reach into the next week begin this one, too. */
function merged(hours: readonly WeekHours[]): [number, number][] {
  const found: [number, number][] = [];
  const within = hours.map(([start, end]) => [((start % WEEK) + WEEK) % WEEK, end - start] as const);
  const all = within.flatMap(([start, length]): [number, number][] => [
    [start, start + length],
    [start - WEEK, start - WEEK + length],
  ]);
  for (const [start, end] of all.sort(([one], [other]) => one - other)) {
    const before = found.at(-1);
    if (before && start <= before[1]) before[1] = Math.max(before[1], end);
    else found.push([start, end]);
  }
  return found;
}
