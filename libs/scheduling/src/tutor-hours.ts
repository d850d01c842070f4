import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, IS_STAFF } from '@app/database';
import { Refused } from '@app/rules';

/** Tables whose rows of a tutor are replaced together, and what tells such rows apart. */
const WEEKLY_HOURS = { table: raw('availabilities'), columns: ['day_of_week', 'start_time', 'end_time', 'timezone'] };
const DAYS_OFF = { table: raw('time_off'), columns: ['starts_on', 'ends_on', 'note'] };

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

  private async replace(organizationId: string, tutorId: string, of: typeof WEEKLY_HOURS, rows: object[]) {
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
