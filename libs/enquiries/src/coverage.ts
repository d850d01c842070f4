import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { Database, idOf, IS_STAFF, type Tenant } from '@app/database';

/** The mean radius of the Earth (km). */
const EARTH = 6_371;

/** SQL for a postcode as it is compared, and as `places.compact` has it: in capitals, without spaces. */
const compact = (postcode: string): string => `upper(replace(${postcode}, ' ', ''))`;

/** SQL for the place of a postcode. @param alias of `places` @param postcode SQL */
export const placeOf = (alias: string, postcode: string): Sql =>
  raw(`LEFT JOIN places ${alias} ON ${alias}.compact = ${compact(postcode)}`);

/** SQL for the great-circle distance between two places (km); null if one is unknown. @param from @param to aliases of `places` */
export function distanceBetween(from: string, to: string): string {
  // Without the condition, the distance to nowhere would be that to the antipodes: least() ignores nulls.
  return `(CASE WHEN ${from}.lat IS NOT NULL AND ${to}.lat IS NOT NULL THEN ${2 * EARTH} * asin(least(1, sqrt(
    power(sin(radians(${to}.lat - ${from}.lat) / 2), 2)
    + cos(radians(${from}.lat)) * cos(radians(${to}.lat)) * power(sin(radians(${to}.lng - ${from}.lng) / 2), 2)))) END)`;
}

/** SQL for a distance as it is shown: to a tenth of a kilometre. */
export const shownDistance = (km: string): string => `round((${km})::numeric, 1)::double precision`;

/** SQL for the postcodes that a tutor names, as they are compared. */
const namedBy = (profile: string): string =>
  `string_to_array(${compact(`array_to_string(${profile}.service_postcodes, ',')`)}, ',')`;

/**
 * SQL for whether a tutor covers a postcode: everywhere, in this postcode by name, or near enough to their home; but never who
 * only teaches online.
 *
 * @param profile alias of `tutor_profiles` @param postcode SQL @param km the distance from the tutor's home, in SQL
 */
export function covers(profile: string, postcode: string, km: string, named = namedBy(profile)): string {
  return `coalesce(${profile}.teaching_mode IS DISTINCT FROM 'online' AND (${profile}.serves_all_areas
    OR ${compact(postcode)} = ANY (${named}) OR ${km} <= ${profile}.max_travel_km), false)`;
}

/** The accepted staff with a tutor profile, as `m`, with it as `t` and the place where they live as `home`. */
export const TUTORS = sql`members m
  JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
  ${placeOf('home', 't.home_postcode')}`;

/** The condition for those who are tutors of the organization now. */
export const tutorsOf = (organizationId: string): Sql =>
  sql`m.organization_id = ${organizationId} AND m.${IS_STAFF} AND m.status = 'accepted'`;

/**
 * The condition for those who teach a subject: a look-up for each. EXISTS may be planned as a loop over all who teach, for each of them.
 *
 * @param subject SQL for its id
 */
export const teach = (subject: Sql): Sql => sql`coalesce((SELECT true FROM tutor_subjects k
  WHERE k.organization_id = m.organization_id AND k.user_id = m.user_id AND k.subject_id = ${subject}), false)`;

/** How many tutors there are for a subject, and how many of them for a postcode. Who teaches both ways counts in both. */
export interface CoverageSummary {
  subjectId: string | null;
  total: number;
  inPerson: number;
  online: number;
  coveringArea: number;
}

/** A postcode with fewer tutors for a subject than wanted, from where lessons were asked for. */
export interface CoverageGap {
  postcode: string;
  suburb: string | null;
  subjectId: string | null;
  demandScore: number;
  requestCount: number;
  supplyCount: number;
}

/** Where tutors teach, and where they are missing. */
@Injectable()
export class Coverage {
  constructor(private readonly db: Database) {}

  /** @param subject its id or code; nobody teaches an unknown one @param postcode null to count everybody as covering it */
  async summary(tenant: Tenant, subject: string | null, postcode: string | null): Promise<CoverageSummary> {
    const { organizationId } = tenant;
    const wanted = sql`(SELECT id FROM subjects WHERE organization_id = ${organizationId}
      AND id = ${subject === null ? sql`NULL` : idOf('subjects', organizationId, subject)})`;
    const covering =
      postcode === null
        ? sql`count(*)`
        : sql`count(*) FILTER (WHERE ${raw(covers('t', 'wanted.postcode', distanceBetween('home', 'there')))})`;
    const [[found]] = await this.db.read<[CoverageSummary]>(
      tenant,
      sql`
        SELECT ${wanted} AS "subjectId", count(*)::int AS total,
          count(*) FILTER (WHERE t.teaching_mode IN ('in_person', 'both'))::int AS "inPerson",
          count(*) FILTER (WHERE t.teaching_mode IN ('online', 'both'))::int AS online, (${covering})::int AS "coveringArea"
        FROM ${TUTORS} CROSS JOIN (SELECT ${postcode}::text AS postcode) wanted
        ${placeOf('there', 'wanted.postcode')}
        WHERE ${tutorsOf(organizationId)}${subject === null ? empty : sql` AND ${teach(wanted)}`}`,
    );
    return found!;
  }

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
    const far = distanceBetween('m', 'there');
    const [rows] = await this.db.read<[CoverageGap]>(
      tenant,
      sql`
        WITH asked AS MATERIALIZED (
          SELECT min(l.postcode) AS postcode, b.subject_id, min(l.suburb) AS suburb, count(*)::int AS requests,
            sum(CASE b.status WHEN 'pending' THEN 1 WHEN 'matched' THEN 0.25 ELSE 0.5 END)::double precision AS demand
          FROM booking_requests b JOIN locations l ON l.organization_id = b.organization_id AND l.student_id = b.student_id
          JOIN members asker ON asker.organization_id = b.organization_id AND asker.user_id = b.student_id AND asker.status <> 'archived'
          WHERE b.organization_id = ${organizationId} AND l.is_default AND l.postcode IS NOT NULL
            AND b.created_at >= now() - interval '180 days'${ofSubject}
          GROUP BY ${raw(compact('l.postcode'))}, b.subject_id),
        -- Once for each tutor, rather than for each of them and each postcode.
        tutors AS MATERIALIZED (
          SELECT m.organization_id, m.user_id, t.teaching_mode, t.serves_all_areas, t.max_travel_km, ${raw(namedBy('t'))} AS named,
            home.lat, home.lng
          FROM ${TUTORS} WHERE ${tutorsOf(organizationId)})
        SELECT coalesce(there.postcode, a.postcode) AS postcode, coalesce(there.suburb, a.suburb) AS suburb, a.subject_id AS "subjectId",
          a.demand AS "demandScore", a.requests AS "requestCount", s.supply AS "supplyCount"
        FROM asked a ${placeOf('there', 'a.postcode')}
        -- No further than what would be enough.
        CROSS JOIN LATERAL (SELECT count(*)::int AS supply FROM (SELECT FROM tutors m
          WHERE (a.subject_id IS NULL OR ${teach(sql`a.subject_id`)}) AND ${raw(covers('m', 'a.postcode', far, 'm.named'))}
          LIMIT ${minTutors}) enough) s
        WHERE s.supply < ${minTutors}
        ORDER BY a.demand DESC, a.requests DESC, postcode, a.subject_id NULLS LAST LIMIT ${limit}`,
    );
    return rows;
  }
}
