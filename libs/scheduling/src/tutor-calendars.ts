import sql, { type Sql } from 'sql-template-tag';

/**
 * What the slots of tutors depend on: weekly hours, sessions (at most a day long), time off.
 *
 * @param whose the rest of a condition on the tutor's id
 */
export function calendarsOf(
  organizationId: string,
  whose: Sql,
  { from, to }: { from: Date; to: Date },
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
