import sql, { type Sql } from 'sql-template-tag';
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

/**
 * What the slots of tutors depend on: weekly hours, sessions (at most a day long), time off.
 *
 * @param whose the rest of a condition on the tutor's id
 */
export function calendarsOf(
  organizationId: string,
  whose: Sql,
  { from, to }: Pick<Reach, 'from' | 'to'>,
): [Sql, Sql, Sql] {
  const own = sql`organization_id = ${organizationId} AND tutor_id ${whose}`;
  return [
    sql`SELECT tutor_id AS "tutorId", day_of_week AS "dayOfWeek", start_time AS "startTime", end_time AS "endTime", timezone
      FROM availabilities WHERE ${own}`,
    sql`SELECT tutor_id AS "tutorId", starts_at AS "startsAt", ends_at AS "endsAt" FROM sessions
      WHERE ${own} AND status <> 'cancelled' AND starts_at > ${from.toISOString()}::timestamptz - interval '1 day'
        AND starts_at < ${to.toISOString()} AND ends_at > ${from.toISOString()}`,
    sql`SELECT tutor_id AS "tutorId", to_char(starts_on, 'YYYY-MM-DD') AS "startsOn", to_char(ends_on, 'YYYY-MM-DD') AS "endsOn"
      FROM time_off WHERE ${own}`,
  ];
}
