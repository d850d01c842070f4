import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, SESSION } from '@app/database';

/** What another time zone does to what an organization has ahead. */
export interface ZoneMove {
  before: string;
  after: string;
  /** Lessons ahead, which keep their instant, and those of them that the new clocks show at another time. */
  lessons: number;
  moved: number;
  /** The next of these. */
  next: Date | null;
  /** Series with lessons ahead: what is added to them later repeats by the new clocks. */
  series: number;
  /** Weekly hours on another clock than the new one, which they keep, and of how many tutors. */
  hours: number;
  tutors: number;
  /** Periods of time off that are not over: their days begin and end by the new clocks. */
  timeOff: number;
}

/** Counts what another time zone moves. */
@Injectable()
export class ZoneMoves {
  constructor(private readonly db: Database) {}

  /** In the ambient transaction. */
  async count(organizationId: string, before: string, after: string): Promise<ZoneMove> {
    const [row] = await this.db.query<Omit<ZoneMove, 'before' | 'after'>>(sql`
      SELECT s.*, h.*, (SELECT count(*)::integer FROM time_off
        WHERE organization_id = ${organizationId} AND ends_on >= (now() AT TIME ZONE ${before})::date) AS "timeOff"
      FROM (SELECT count(*)::integer AS lessons, count(*) FILTER (WHERE elsewhere)::integer AS moved,
          min(starts_at) FILTER (WHERE elsewhere) AS next, count(DISTINCT series_id)::integer AS series
        FROM (SELECT starts_at, series_id, starts_at AT TIME ZONE ${before} <> starts_at AT TIME ZONE ${after} AS elsewhere FROM sessions
          WHERE organization_id = ${organizationId} AND starts_at > now() AND status = ANY (${SESSION.allowed('cancel')})) ahead) s,
        (SELECT count(*)::integer AS hours, count(DISTINCT tutor_id)::integer AS tutors FROM availabilities
          WHERE organization_id = ${organizationId} AND timezone <> ${after}) h`);
    return { before, after, ...row! };
  }
}
