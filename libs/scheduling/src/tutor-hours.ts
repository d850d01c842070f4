import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, IS_STAFF } from '@app/database';
import { Refused } from '@app/rules';
import { overlappingRules } from './slots.js';

/** Tables whose rows of a tutor are replaced together, and what tells such rows apart. */
const WEEKLY_HOURS = {
  ...{ table: raw('availabilities'), columns: ['day_of_week', 'start_time', 'end_time', 'timezone'], most: 100 },
};
const DAYS_OFF = { table: raw('time_off'), columns: ['starts_on', 'ends_on', 'note'], most: 200 };

/** Hours of a weekday, on the clock of a time zone. */
export interface WeeklyRow {
  day_of_week: number;
  start_time: string;
  end_time: string;
  timezone: string;
}

/** Days on which a tutor does not teach, YYYY-MM-DD. */
export interface AbsenceRow {
  starts_on: string;
  ends_on: string;
  note: string | null;
}

/** @returns the rows that a tutor is to have, of those that are stored */
type Edit<Row> = (stored: (Row & { id: string })[]) => Row[];

/** When tutors teach, and when they do not, in the ambient transaction. Rows that are there already stay as they are. */
@Injectable()
export class TutorHours {
  constructor(private readonly db: Database) {}

  /** @param hours by the names of columns @throws Refused for a tutor who does not exist or has left */
  async replaceWeekly(organizationId: string, tutorId: string, hours: object[]): Promise<void> {
    await this.replace(organizationId, tutorId, WEEKLY_HOURS, hours);
  }

  /** @param timeOff by the names of columns @throws Refused for a tutor who does not exist or has left */
  async replaceTimeOff(organizationId: string, tutorId: string, timeOff: object[]): Promise<void> {
    await this.replace(organizationId, tutorId, DAYS_OFF, timeOff);
  }

  /** @throws Refused as above, for hours that overlap, and for more than 100 */
  async editWeekly(organizationId: string, tutorId: string, edit: Edit<WeeklyRow>): Promise<void> {
    const rows = edit(await this.stored<WeeklyRow>(organizationId, tutorId, WEEKLY_HOURS));
    const rules = rows.map((row) => ({
      ...{ dayOfWeek: row.day_of_week, startTime: row.start_time, endTime: row.end_time, timezone: row.timezone },
    }));
    if (overlappingRules(rules).length > 0)
      throw Refused.invalid('These hours overlap others of the same day.', 'start_time');
    await this.replace(organizationId, tutorId, WEEKLY_HOURS, rows);
  }

  /** @throws Refused as above, and for more than 200 */
  async editTimeOff(organizationId: string, tutorId: string, edit: Edit<AbsenceRow>): Promise<void> {
    await this.replace(
      organizationId,
      tutorId,
      DAYS_OFF,
      edit(await this.stored<AbsenceRow>(organizationId, tutorId, DAYS_OFF)),
    );
  }

  private async stored<Row>(
    organizationId: string,
    tutorId: string,
    of: typeof DAYS_OFF,
  ): Promise<(Row & { id: string })[]> {
    await this.db.lockPeople(organizationId, [tutorId]);
    const rows = await this.db.query<{ row: Row & { id: string } }>(sql`
      SELECT to_jsonb(t) AS row FROM ${of.table} t WHERE t.organization_id = ${organizationId} AND t.tutor_id = ${tutorId} ORDER BY t.id`);
    return rows.map(({ row }) => row);
  }

  private async replace(organizationId: string, tutorId: string, of: typeof DAYS_OFF, rows: object[]) {
    if (rows.length > of.most) throw Refused.invalid(`At most ${of.most} of these can be stored.`);
    // Changes to one tutor's hours wait for each other. Bookings do not wait for them.
    await this.db.lockPeople(organizationId, [tutorId]);
    const [tutor] = await this.db.query(sql`
      SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${tutorId} AND ${IS_STAFF}
        AND status <> 'archived' FOR NO KEY UPDATE`);
    if (!tutor) throw Refused.notFound();
    const columnsOf = (alias: string) => raw(of.columns.map((name) => `${alias}.${name}`).join(', '));
    const json = JSON.stringify(rows.map((row) => ({ id: uuidv7(), ...row })));
    const wanted = sql`jsonb_populate_recordset(NULL::${of.table}, ${json}::jsonb) wanted`;
    const same = sql`(${columnsOf('stored')}) IS NOT DISTINCT FROM (${columnsOf('wanted')})`;
    const stored = sql`stored.organization_id = ${organizationId} AND stored.tutor_id = ${tutorId}`;
    await this.db.query(sql`
      DELETE FROM ${of.table} stored WHERE ${stored} AND NOT EXISTS (SELECT FROM ${wanted} WHERE ${same})`);
    await this.db.query(sql`
      INSERT INTO ${of.table} (id, organization_id, tutor_id, ${raw(of.columns.join(', '))})
      SELECT wanted.id, ${organizationId}, ${tutorId}, ${columnsOf('wanted')} FROM ${wanted}
      WHERE NOT EXISTS (SELECT FROM ${of.table} stored WHERE ${stored} AND ${same})`);
  }
}
