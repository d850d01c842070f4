import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { type Busy, busyStudents, busyTutor } from './calendar.js';
import { LAST_INSTANT, overlaps, type Timed } from './overlap.js';
import { type DaysOff, outsideHours, type WeeklyHours } from './slots.js';
import { endOfDay, startOfDay } from './wall-clock.js';

/** What stands in the way of a lesson at a time. None of it forbids the lesson: somebody decides. */
export interface Obstacle extends Timed {
  kind: 'outside_hours' | 'time_off' | 'tutor_busy' | 'student_busy';
  /** The other lesson of whoever is busy. */
  sessionId?: string;
  studentId?: string;
}

/** Lessons that are to be booked or moved. */
export interface Planned {
  /** Null: nobody teaches them yet. */
  tutorId: string | null;
  studentIds: readonly string[];
  times: readonly Timed[];
  /** Sessions that are to move: where they are now is free. */
  except?: readonly string[];
}

type Read = [WeeklyHours[], DaysOff[], Busy[], Busy[], { zone: string }[]];

/** Says what stands in the way of lessons, before they are booked or moved. Whatever is booked meanwhile is the rules' to refuse. */
@Injectable()
export class Obstacles {
  constructor(private readonly db: Database) {}

  /** By the times, as the ambient transaction sees them. */
  async of(organizationId: string, wanted: Planned): Promise<Obstacle[]> {
    // Later ones are refused.
    const planned = { ...wanted, times: wanted.times.filter(({ endsAt }) => endsAt <= LAST_INSTANT) };
    if (planned.times.length === 0) return [];
    const rows = await Promise.all(statements(organizationId, planned).map((one) => this.db.query(one)));
    return found(planned, rows as unknown as Read);
  }
}

function statements(organizationId: string, { tutorId, studentIds, times }: Planned): Sql[] {
  const own = sql`organization_id = ${organizationId} AND tutor_id = ${tutorId}`;
  return [
    sql`SELECT day_of_week AS "dayOfWeek", start_time AS "startTime", end_time AS "endTime", timezone FROM availabilities WHERE ${own}`,
    sql`SELECT to_char(starts_on, 'YYYY-MM-DD') AS "startsOn", to_char(ends_on, 'YYYY-MM-DD') AS "endsOn" FROM time_off
      WHERE ${own} ORDER BY starts_on, ends_on`,
    busyTutor(organizationId, tutorId, times),
    busyStudents(organizationId, studentIds, times),
    sql`SELECT time_zone AS zone FROM organizations WHERE id = ${organizationId}`,
  ];
}

function found({ times, except = [] }: Planned, [hours, daysOff, busy, theirs, [organization]]: Read): Obstacle[] {
  const { zone } = organization!;
  const away = daysOff.map(({ startsOn, endsOn }) => ({ startsAt: startOfDay(startsOn, zone), endsAt: endOfDay(endsOn, zone) })); // prettier-ignore
  const outside = new Set(outsideHours(hours, times, zone));
  const others = [...busy, ...theirs].filter(({ id }) => !except.includes(id));
  return times.flatMap((time): Obstacle[] => {
    const isAway = away.some((days) => overlaps(time, days));
    const inTheWay = others.filter((other) => overlaps(time, other));
    return [
      ...(isAway ? [{ ...time, kind: 'time_off' as const }] : []),
      ...(outside.has(time) && !isAway ? [{ ...time, kind: 'outside_hours' as const }] : []),
      ...inTheWay.map(({ id, studentId }): Obstacle => ({
        ...{ startsAt: time.startsAt, endsAt: time.endsAt, kind: studentId ? 'student_busy' : 'tutor_busy' },
        ...{ sessionId: id, ...(studentId && { studentId }) },
      })),
    ];
  });
}
