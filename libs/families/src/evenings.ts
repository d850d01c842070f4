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
      const { eveningOn, eveningAfter, moment } = await this.rounds.open(organizationId);
      const today = dayOf(moment, zone);
      const begun = eveningOn === today;
      if (begun && eveningAfter === null) return false;
      const people = await this.db.query<{ id: string }>(sql`
        SELECT DISTINCT p.user_id AS id FROM (${partiesOf(organizationId, after(today, zone))}) p WHERE p.user_id > ${(begun && eveningAfter) || NIL}
        ORDER BY 1 LIMIT ${PORTION}`);
      const mails = people.map(({ id }) => ({ id, aboutId: id, orNever: true }));
      const reached = await this.people.find(organizationId, people.map(({ id }) => id)); // prettier-ignore
      await this.people.mail(organizationId, 'lessons_tomorrow', reached, mails);
      const last = people.length < PORTION ? null : people.at(-1)!.id;
      await this.db.query(sql`UPDATE family_rounds SET evening_on = ${today}, evening_after = ${last}::uuid WHERE organization_id = ${organizationId}`); // prettier-ignore
      return last !== null;
    });
  }

  /** What somebody has on the day after this one, as it is now, in the ambient transaction. */
  async lessons(
    organizationId: string,
    userId: string,
    day: string,
    zone: string,
  ): Promise<{ id: string; known: Known }[]> {
    const mine = sql`${after(day, zone)} AND (s.tutor_id = ${userId} OR s.id IN (SELECT session_id FROM lesson_participants WHERE organization_id = ${organizationId}
      AND (student_id = ${userId} OR student_id IN (SELECT student_id FROM parent_students WHERE organization_id = ${organizationId} AND parent_id = ${userId}))))`;
    return this.db.query(sql`
      SELECT p.session_id AS id, p.known FROM (${partiesOf(organizationId, mine)}) p WHERE p.user_id = ${userId} ORDER BY p.starts_at`);
  }
}

/** SQL: about the sessions `s` of the day after this one. */
function after(today: string, zone: string) {
  const day = addDays(today, 1);
  return sql`s.starts_at BETWEEN ${startOfDay(day, zone).toISOString()} AND ${endOfDay(day, zone).toISOString()}`;
}
