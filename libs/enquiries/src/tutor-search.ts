import { Injectable } from '@nestjs/common';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Database, type Tenant } from '@app/database';
import { visibleColumns } from '@app/people';
import { Refused } from '@app/rules';
import { dayOf, instantAt, type WeeklyHours } from '@app/scheduling';
import { covers, distanceBetween, placeOf, shownDistance, TUTORS, tutorsOf } from './coverage.js';
import { type Breakdown, type Candidate, minutesOf, ranked, type WeekHours, type Wish } from './score.js';

/** A tutor for a booking request, with what speaks for them. */
export interface Recommended {
  tutorId: string;
  firstName: string | null;
  lastName: string | null;
  score: number;
  breakdown: Breakdown;
  reasons: string[];
  upcoming: number;
  teaches: boolean;
  distanceKm: number | null;
  roadKm: number | null;
  roadMinutes: number | null;
  /** Whether they teach where the student lives. */
  nearby: boolean;
}

export interface Recommendations {
  subjectId: string | null;
  tutors: Recommended[];
}

type WishRow = Wish & { subjectId: string | null; zone: string };
type CandidateRow = Omit<Candidate, 'hours'> & {
  first_name: string | null;
  last_name: string | null;
  roadKm: number | null;
};
type HoursRow = WeeklyHours & { tutorId: string };

/** Finds tutors for booking requests. */
@Injectable()
export class TutorSearch {
  constructor(private readonly db: Database) {}

  /** The best tutors for a request, in one round trip. @throws Refused for an unknown request */
  async recommend(tenant: Tenant, requestId: string, most: number): Promise<Recommendations> {
    const { organizationId } = tenant;
    const [[wish], candidates, hours] = await this.db.read<[WishRow, CandidateRow, HoursRow]>(
      tenant,
      wishOf(organizationId, requestId),
      candidatesFor(organizationId, requestId, most),
      hoursOf(organizationId, requestId, most),
    );
    if (!wish) throw Refused.notFound();
    const own = Map.groupBy(hours, ({ tutorId }) => tutorId);
    const shiftOf = shifts(wish.zone);
    const all = candidates.map((row) => ({
      ...row,
      hours: (own.get(row.id) ?? []).map((one) => inWeek(one, shiftOf)),
    }));
    const tutors = ranked(wish, all)
      .slice(0, most)
      .map(({ candidate, ...scored }) => ({
        ...scored,
        tutorId: candidate.id,
        firstName: candidate.first_name,
        lastName: candidate.last_name,
        upcoming: candidate.upcoming,
        teaches: candidate.teaches,
        distanceKm: candidate.distanceKm,
        roadKm: candidate.roadKm,
        roadMinutes: candidate.roadMinutes,
        nearby: candidate.covers,
      }));
    return { subjectId: wish.subjectId, tutors };
  }
}

/** Where the student of the request `b` lives, as `l`. */
const HOME = sql`LEFT JOIN locations l ON l.organization_id = b.organization_id AND l.student_id = b.student_id AND l.is_default`;

const wishOf = (organizationId: string, id: string): Sql => sql`
  SELECT b.subject_id AS "subjectId", s.name AS subject, b.preferred_mode AS mode, b.preferred_days AS days,
    b.preferred_times AS times, b.duration_minutes AS minutes, l.postcode, o.time_zone AS zone
  FROM booking_requests b JOIN organizations o ON o.id = b.organization_id
  LEFT JOIN subjects s ON s.organization_id = b.organization_id AND s.id = b.subject_id ${HOME}
  WHERE b.organization_id = ${organizationId} AND b.id = ${id}`;

const KM = distanceBetween('home', 'b');

/**
 * The tutors to choose from: those who teach the subject, and the others only if these are too few, since none of them comes before one who does
 * (see {@link ranked}).
 */
const chosen = (organizationId: string, requestId: string, most: number): Sql => sql`
  asked AS MATERIALIZED (SELECT subject_id FROM booking_requests WHERE organization_id = ${organizationId} AND id = ${requestId}),
  teachers AS MATERIALIZED (SELECT m.user_id FROM asked a
    JOIN tutor_subjects k ON k.organization_id = ${organizationId} AND k.subject_id = a.subject_id
    JOIN members m ON m.organization_id = k.organization_id AND m.user_id = k.user_id WHERE ${tutorsOf(organizationId)}),
  chosen AS MATERIALIZED (SELECT user_id FROM teachers
    UNION SELECT m.user_id FROM members m
    WHERE ${tutorsOf(organizationId)} AND (SELECT count(*) FROM teachers) < ${most})`;

const candidatesFor = (organizationId: string, requestId: string, most: number): Sql => sql`
  WITH ${chosen(organizationId, requestId, most)},
  b AS MATERIALIZED (SELECT b.subject_id, l.postcode, there.postcode AS place, there.lat, there.lng
    FROM booking_requests b ${HOME} ${placeOf('there', 'l.postcode')} WHERE b.organization_id = ${organizationId} AND b.id = ${requestId})
  SELECT m.user_id AS id, ${visibleColumns('m', ['first_name', 'last_name'])}, t.teaching_mode AS mode,
    coalesce(b.subject_id IS NULL OR (SELECT true FROM tutor_subjects k WHERE k.organization_id = m.organization_id
      AND k.user_id = m.user_id AND k.subject_id = b.subject_id), false) AS teaches, a.upcoming,
    (i.reached -> b.place ->> 0)::double precision AS "roadKm", (i.reached -> b.place ->> 1)::int AS "roadMinutes",
    ${raw(shownDistance(KM))} AS "distanceKm", ${raw(covers('t', 'b.postcode', KM))} AS covers
  FROM chosen c CROSS JOIN b JOIN ${TUTORS} ON m.user_id = c.user_id LEFT JOIN users u ON u.id = m.user_id
  LEFT JOIN isochrones i ON i.organization_id = m.organization_id AND i.postcode = home.postcode
  CROSS JOIN LATERAL (SELECT count(*)::int AS upcoming FROM sessions s WHERE s.organization_id = m.organization_id
    AND s.tutor_id = m.user_id AND s.status <> 'cancelled' AND s.starts_at > now()) a
  WHERE ${tutorsOf(organizationId)}`;

const hoursOf = (organizationId: string, requestId: string, most: number): Sql => sql`
  WITH ${chosen(organizationId, requestId, most)}
  SELECT h.tutor_id AS "tutorId", h.day_of_week AS "dayOfWeek", h.start_time AS "startTime", h.end_time AS "endTime", h.timezone
  FROM chosen c JOIN availabilities h ON h.organization_id = ${organizationId} AND h.tutor_id = c.user_id`;

/** How many minutes later it is noon elsewhere than by the clock of `zone`, today. */
function shifts(zone: string): (other: string) => number {
  const today = dayOf(new Date(), zone);
  const noon = (where: string) => instantAt(today, '12:00', where).getTime();
  const known = new Map<string, number>();
  return (other) => {
    const shift = known.get(other) ?? Math.round((noon(other) - noon(zone)) / 60_000);
    known.set(other, shift);
    return shift;
  };
}

function inWeek(
  { dayOfWeek, startTime, endTime, timezone }: WeeklyHours,
  shiftOf: (zone: string) => number,
): WeekHours {
  const from = dayOfWeek * 1_440 + shiftOf(timezone);
  return [from + minutesOf(startTime), from + minutesOf(endTime)];
}
