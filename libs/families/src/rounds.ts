import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';

/** How far the worker has come with an organization's mails. */
interface Round {
  /** Of the last event that was looked at; null until what is booked has been noted. */
  position: string | null;
  /** A day of the organization's: the last evening that was told, up to whom; null after the last one. */
  eveningOn: string | null;
  eveningAfter: string | null;
  /** Now, as the database has it: clocks of workers differ. */
  moment: Date;
}

/** The rounds of the worker: one at a time for each organization. */
@Injectable()
export class Rounds {
  constructor(private readonly db: Database) {}

  /** Begins the next round, in the ambient transaction: another one of the organization waits for its end. */
  async open(organizationId: string): Promise<Round> {
    await this.db.query(
      sql`INSERT INTO family_rounds (organization_id) VALUES (${organizationId}) ON CONFLICT DO NOTHING`,
    );
    const [round] = await this.db.query<Round>(sql`
      SELECT position, evening_on::text AS "eveningOn", evening_after AS "eveningAfter", clock_timestamp()::timestamptz(3) AS moment
      FROM family_rounds WHERE organization_id = ${organizationId} FOR UPDATE`);
    return round!;
  }
}
