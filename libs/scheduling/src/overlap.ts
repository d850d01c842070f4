/** When something takes place: from its start, up to but without its end. */
export interface Timed {
  startsAt: Date;
  endsAt: Date;
}

/** The calendar ends with the year 9999: later times have more digits than the API and PostgreSQL read. */
export const LAST_INSTANT = new Date('9999-12-31T23:59:59.999Z');

/** Whether two take place at the same time. Two that touch do not. */
export function overlaps(one: Timed, other: Timed): boolean {
  return one.startsAt < other.endsAt && other.startsAt < one.endsAt;
}

/** Those of the `others` that `one` overlaps, in their order. */
export function overlapping<T extends Timed>(one: Timed, others: readonly T[]): T[] {
  return others.filter((other) => overlaps(one, other));
}
