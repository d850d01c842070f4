import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { NIL } from 'uuid';
import { Database } from '@app/database';
import { addDays, dayOf, endOfDay, startOfDay } from '@app/scheduling';
import type { Known } from './decide.js';
import { FamilyPeople } from './family-people.js';
import { partiesOf } from './lesson-parties.js';
import { Rounds } from './rounds.js';

/** People in one transaction. */
const PORTION = 200;

/** The local hour from which the lessons of the next day are told. */
const EVENING = 18;

/** Tells of an evening which lessons the next day has. */
@Injectable()
export class Evenings {
  constructor(
    private readonly db: Database,
    private readonly rounds: Rounds,
    private readonly people: FamilyPeople,
  ) {}

  /** Queues the mails to the next people, in a transaction of its own. @returns whether there are more */
  gather(organizationId: string, zone: string): Promise<boolean> {
    return this.db.transaction({ organizationId }, async () => {
      const today = dayOf(new Date(), zone);
      const { eveningOn, eveningAfter } = await this.rounds.open(organizationId);
      const begun = eveningOn === today;
      if (begun && eveningAfter === null) return false;
      const people = await this.db.query<{ id: string }>(sql`
        SELECT DISTINCT p.user_id AS id FROM (${partiesOf(organizationId, tomorrow(zone))}) p WHERE p.user_id > ${(begun && eveningAfter) || NIL}
        ORDER BY 1 LIMIT ${PORTION}`);
      const mails = people.map(({ id }) => ({ id, aboutId: id, orNever: true }));
      await this.people.mail(organizationId, 'lessons_tomorrow', 'lessons', mails);
      const last = people.length < PORTION ? null : people.at(-1)!.id;
      await this.db.query(sql`UPDATE family_rounds SET evening_on = ${today}, evening_after = ${last}::uuid WHERE organization_id = ${organizationId}`); // prettier-ignore
      return last !== null;
    });
  }

  /** What somebody has tomorrow, as it is now, in the ambient transaction; nothing once the evening is over. */
  async lessons(organizationId: string, userId: string, zone: string): Promise<Known[]> {
    if (hourIn(zone) < EVENING) return [];
    const mine = sql`${tomorrow(zone)} AND (s.tutor_id = ${userId} OR s.id IN (SELECT session_id FROM lesson_participants WHERE organization_id = ${organizationId}
      AND (student_id = ${userId} OR student_id IN (SELECT student_id FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${userId}))))`;
    const rows = await this.db.query<{ known: Known }>(sql`
      SELECT p.known FROM (${partiesOf(organizationId, mine)}) p WHERE p.user_id = ${userId} ORDER BY p.starts_at`);
    return rows.map(({ known }) => known);
  }
}

function tomorrow(zone: string) {
  const day = addDays(dayOf(new Date(), zone), 1);
  return sql`s.starts_at BETWEEN ${startOfDay(day, zone).toISOString()} AND ${endOfDay(day, zone).toISOString()}`;
}

const hourIn = (zone: string): number =>
  Number(new Intl.DateTimeFormat('en-GB', { hour: '2-digit', hour12: false, timeZone: zone }).format(new Date()));
