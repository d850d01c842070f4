import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Refused } from '@app/rules';
import { occurrences } from './wall-clock.js';

/** What a series repeats. */
export interface SeriesPattern {
  id: string;
  tutorId: string | null;
  subjectId: string | null;
  groupId: string | null;
  classroomId: string | null;
  mode: 'online' | 'in_person' | null;
  /** Null: that of the tutor. */
  meetingUrl: string | null;
  locationId: string | null;
  /** The first of its times, since the series was last moved. */
  startsAt: Date;
  /** The last time that was booked, or left out because it was taken. */
  lastStartsAt: Date;
  minutes: number;
  everyWeeks: number;
  /** Null: by the table of rates. */
  studentRateCents: number | null;
  tutorPayRateCents: number | null;
}

const WEEK_MS = 7 * 86_400_000;

/** The rows of series, in the ambient transaction. Sessions are locked before the series that they belong to. */
@Injectable()
export class SeriesPatterns {
  constructor(private readonly db: Database) {}

  /** The zone by whose clocks series repeat. */
  async zoneOf(organizationId: string): Promise<string> {
    const [found] = await this.db.query<{ zone: string }>(
      sql`SELECT time_zone AS zone FROM organizations WHERE id = ${organizationId}`,
    );
    return found!.zone;
  }

  /** @throws Refused for one of others */
  async lock(organizationId: string, id: string): Promise<SeriesPattern> {
    const [found] = await this.db.query<SeriesPattern>(sql`
      SELECT id, tutor_id AS "tutorId", subject_id AS "subjectId", group_id AS "groupId", classroom_id AS "classroomId", mode,
        meeting_url AS "meetingUrl", location_id AS "locationId", starts_at AS "startsAt", last_starts_at AS "lastStartsAt",
        duration_minutes AS minutes, every_weeks AS "everyWeeks", student_rate_cents::float8 AS "studentRateCents",
        tutor_pay_rate_cents::float8 AS "tutorPayRateCents"
      FROM session_series WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`);
    if (!found) throw Refused.notFound();
    return found;
  }

  async add(organizationId: string, one: SeriesPattern): Promise<void> {
    await this.db.query(sql`
      INSERT INTO session_series (id, organization_id, tutor_id, subject_id, group_id, classroom_id, mode, meeting_url, location_id,
        starts_at, last_starts_at, duration_minutes, every_weeks, student_rate_cents, tutor_pay_rate_cents)
      VALUES (${one.id}, ${organizationId}, ${one.tutorId}, ${one.subjectId}, ${one.groupId}, ${one.classroomId}, ${one.mode},
        ${one.meetingUrl}, ${one.locationId}, ${one.startsAt}, ${one.lastStartsAt}, ${one.minutes}, ${one.everyWeeks},
        ${one.studentRateCents}, ${one.tutorPayRateCents})`);
  }

  /** What can change of it. */
  async update(organizationId: string, one: SeriesPattern): Promise<void> {
    await this.db.query(sql`
      UPDATE session_series SET tutor_id = ${one.tutorId}, subject_id = ${one.subjectId}, mode = ${one.mode},
        meeting_url = ${one.meetingUrl}, location_id = ${one.locationId}, starts_at = ${one.startsAt},
        last_starts_at = ${one.lastStartsAt}, duration_minutes = ${one.minutes},
        student_rate_cents = ${one.studentRateCents}, tutor_pay_rate_cents = ${one.tutorPayRateCents}, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${one.id}`);
  }
}

/** The times of a series after those it has: so many at most, and until an instant, if there is one. */
export function timesAfter(
  { startsAt, lastStartsAt, everyWeeks, minutes }: SeriesPattern,
  zone: string,
  { count, until }: { count: number; until?: Date },
) {
  const passed = Math.ceil((lastStartsAt.getTime() - startsAt.getTime()) / (everyWeeks * WEEK_MS)) + 2;
  const all = occurrences({ startsAt, zone, everyWeeks, count: passed + count, ...(until && { until }) });
  const ahead = all.filter((at) => at > lastStartsAt).slice(0, count);
  return ahead.map((at) => ({ startsAt: at, endsAt: new Date(at.getTime() + minutes * 60_000) }));
}
