import { addDays, endOfDay, startOfDay } from '@app/scheduling';
import { type Caller, dayIn } from '../../http/kit.js';

/** How many days after the first one the last day of slots may be. */
export const MOST_DAYS = 62;

/** Days of the organization's zone, and the instants that a slot of them can touch. */
export interface Reach {
  first: string;
  last: string;
  from: Date;
  to: Date;
}

type Bound = Parameters<typeof dayIn>[0];

export function reachOf(caller: Caller, from: Bound, to: Bound): Reach {
  const zone = caller.organization.timeZone;
  const [first, last] = [dayIn(from, zone), dayIn(to, zone)];
  // A slot ends at most 12 hours after the last day: within the next one.
  return { first, last, from: startOfDay(first, zone), to: endOfDay(addDays(last, 1), zone) };
}
