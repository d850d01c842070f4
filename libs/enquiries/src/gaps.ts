import { Injectable } from '@nestjs/common';
import sql, { empty, raw } from 'sql-template-tag';
import { Database, idOf, type Tenant } from '@app/database';
import { compact, distanceBetween, namedBy, teach, tutorsOf } from './coverage.js';

/** A postcode with fewer tutors for a subject than wanted, from where lessons were asked for. */
export interface CoverageGap {
  postcode: string;
  suburb: string | null;
  subjectId: string | null;
  demandScore: number;
  requestCount: number;
  supplyCount: number;
}

/** Lessons of a subject that were asked for from a place: a postcode as it is compared. */
type Asked = Omit<CoverageGap, 'supplyCount'> & { place: string };

/** A tutor who teaches in person, and where. */
interface Supplier {
  everywhere: boolean;
  /** The places that they name. */
  named: string[];
  /** Where they live, and how far from there they go (km). */
  home: string | null;
  km: number | null;
  subjects: string[];
}

interface Market {
  asked: Asked[];
  tutors: Supplier[];
  /** By place, where tutors live from whom it is not too far, and how far (km). */
  near: Record<string, Record<string, number>>;
}

/** Where tutors are missing. */
@Injectable()
export class CoverageGaps {
  constructor(private readonly db: Database) {}

  /**
   * Postcodes of students who asked for lessons in the last 180 days, and have not left, for which fewer tutors than `minTutors` teach the subject:
   * where the most is asked for first. A request that still waits counts fully, one that came to nothing half, and one that led
   * to lessons a quarter.
   */
  async gaps(
    tenant: Tenant,
    { subject, minTutors, limit }: { subject: string | null; minTutors: number; limit: number },
  ): Promise<CoverageGap[]> {
    const { organizationId } = tenant;
    const ofSubject = subject === null ? empty : sql` AND b.subject_id = ${idOf('subjects', organizationId, subject)}`;
    const [[market]] = await this.db.read<[Market]>(
      tenant,
      sql`
        WITH wishes AS MATERIALIZED (
          SELECT b.student_id, b.subject_id, count(*) AS requests,
            sum(CASE b.status WHEN 'pending' THEN 1 WHEN 'matched' THEN 0.25 ELSE 0.5 END) AS demand
          FROM booking_requests b WHERE b.organization_id = ${organizationId}
            AND b.created_at >= now() - interval '180 days'${ofSubject} GROUP BY 1, 2),
        asked AS MATERIALIZED (
          SELECT ${raw(compact('h.postcode'))} AS place, w.subject_id, min(h.postcode) AS postcode, min(h.suburb) AS suburb,
            sum(w.requests)::int AS requests, sum(w.demand)::double precision AS demand
          FROM wishes w CROSS JOIN LATERAL (
            SELECT l.postcode, l.suburb FROM locations l WHERE l.organization_id = ${organizationId} AND l.owner_type = 'student'
              AND l.tutor_id IS NULL AND l.student_id = w.student_id AND l.is_default AND l.postcode IS NOT NULL
              AND (SELECT m.status <> 'archived' FROM members m WHERE m.organization_id = l.organization_id AND m.user_id = l.student_id)
            OFFSET 0) h
          GROUP BY 1, 2),
        tutors AS MATERIALIZED (
          SELECT t.serves_all_areas AS everywhere, ${raw(namedBy('t'))} AS named, ${raw(compact('t.home_postcode'))} AS home,
            t.max_travel_km AS km, ARRAY(SELECT k.subject_id FROM tutor_subjects k
              WHERE k.organization_id = m.organization_id AND k.user_id = m.user_id) AS subjects
          FROM members m CROSS JOIN LATERAL (SELECT * FROM tutor_profiles t WHERE t.organization_id = m.organization_id
            AND t.user_id = m.user_id AND t.teaching_mode IS DISTINCT FROM 'online' OFFSET 0) t
          WHERE ${tutorsOf(organizationId)}${subject === null ? empty : sql` AND ${teach(organizationId, idOf('subjects', organizationId, subject))}`}),
        -- Each pair once, however many live in the one place and ask for lessons in the other.
        near AS (
          SELECT there.compact AS place, json_object_agg(home.compact, ${raw(distanceBetween('home', 'there'))}) AS homes
          FROM (SELECT p.*, h.km FROM (SELECT home, max(km) AS km FROM tutors GROUP BY 1) h
            CROSS JOIN LATERAL (SELECT * FROM places p WHERE p.compact = h.home OFFSET 0) p) home,
            (SELECT p.* FROM (SELECT DISTINCT place FROM asked) a
              CROSS JOIN LATERAL (SELECT * FROM places p WHERE p.compact = a.place OFFSET 0) p) there
          WHERE abs(home.lat - there.lat) * 111 <= home.km AND ${raw(distanceBetween('home', 'there'))} <= home.km GROUP BY 1)
        SELECT
          (SELECT coalesce(json_agg(json_build_object('place', a.place, 'postcode', a.postcode, 'suburb', a.suburb, 'subjectId', a.subject_id,
              'demandScore', a.demand, 'requestCount', a.requests)
              ORDER BY a.demand DESC, a.requests DESC, a.postcode, a.subject_id NULLS LAST), '[]')
            FROM (SELECT a.place, coalesce(there.postcode, a.postcode) AS postcode, coalesce(there.suburb, a.suburb) AS suburb, a.subject_id,
                a.demand, a.requests
              FROM asked a LEFT JOIN LATERAL (SELECT * FROM places p WHERE p.compact = a.place OFFSET 0) there ON true) a) AS asked,
          (SELECT coalesce(json_agg(t), '[]') FROM tutors t) AS tutors,
          (SELECT coalesce(json_object_agg(n.place, n.homes), '{}') FROM near n) AS near`,
    );
    return gapsIn(market!, minTutors, limit);
  }
}

/** The first `most` of what is asked for that fewer than `enough` tutors supply. */
export function gapsIn({ asked, tutors, near }: Market, enough: number, most: number): CoverageGap[] {
  const teachers = new Map<string | null, Supplier[]>([[null, tutors]]);
  for (const tutor of tutors) {
    for (const subject of tutor.subjects) {
      const known = teachers.get(subject);
      if (known) known.push(tutor);
      else teachers.set(subject, [tutor]);
    }
  }
  const gaps: CoverageGap[] = [];
  for (const { place, ...wish } of asked) {
    let supplyCount = 0;
    for (const { everywhere, named, home, km } of teachers.get(wish.subjectId) ?? []) {
      const reaches = () => home !== null && km !== null && (near[place]?.[home] ?? Infinity) <= km;
      if (everywhere || named.includes(place) || reaches()) supplyCount++;
      if (supplyCount === enough) break;
    }
    if (supplyCount < enough) gaps.push({ ...wish, supplyCount });
    if (gaps.length === most) break;
  }
  return gaps;
}
