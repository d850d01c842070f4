import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { Database, idOf, IS_STAFF, sumOf, type Tenant } from '@app/database';

/** The mean radius of the Earth (km). */
const EARTH = 6_371;

/** SQL for a postcode as it is compared, and as `places.compact` has it: in capitals, without spaces. */
export const compact = (postcode: string): string => `upper(replace(${postcode}, ' ', ''))`;

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
export const namedBy = (profile: string): string =>
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

/** The condition for those who teach a subject: their ids first, rather than a look at each of the staff. @param subject SQL for its id */
export const teach = (
  organizationId: string,
  subject: Sql,
): Sql => sql`m.user_id = ANY (ARRAY(SELECT k.user_id FROM tutor_subjects k
  WHERE k.organization_id = ${organizationId} AND k.subject_id = ${subject}))`;

/** How many tutors there are for a subject, and how many of them for a postcode. Who teaches both ways counts in both. */
export interface CoverageSummary {
  subjectId: string | null;
  total: number;
  inPerson: number;
  online: number;
  coveringArea: number;
}

/** Where tutors teach. */
@Injectable()
export class Coverage {
  constructor(private readonly db: Database) {}

  /** @param subject its id or code; nobody teaches an unknown one @param postcode null to count everybody as covering it */
  async summary(tenant: Tenant, subject: string | null, postcode: string | null): Promise<CoverageSummary> {
    const { organizationId } = tenant;
    if (subject === null && postcode === null) return this.everywhere(tenant);
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
        WHERE ${tutorsOf(organizationId)}${subject === null ? empty : sql` AND ${teach(organizationId, wanted)}`}`,
    );
    return found!;
  }

  /** Of all subjects, and of no place in particular. */
  private async everywhere(tenant: Tenant): Promise<CoverageSummary> {
    const sum = (...ways: ('online' | 'in_person' | 'both' | 'unsaid')[]) =>
      raw(sumOf('o.id', ...ways.map((way) => `members:teaching:${way}` as const)));
    const total = sum('online', 'in_person', 'both', 'unsaid');
    const [[found]] = await this.db.read<[CoverageSummary]>(
      tenant,
      sql`SELECT NULL AS "subjectId", ${total}::int AS total, ${sum('in_person', 'both')}::int AS "inPerson",
        ${sum('online', 'both')}::int AS online, ${total}::int AS "coveringArea" FROM organizations o WHERE o.id = ${tenant.organizationId}`,
    );
    return found!;
  }
}
