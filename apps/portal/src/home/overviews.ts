import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { dayOf, endOfDay, startOfDay } from '@app/scheduling';
import { readFilter } from '../people/people.filter.js';
import { peoplePage, type PersonRow } from '../people/people.queries.js';
import type { Membership } from '../web/sessions.js';
import {
  dayInFigures,
  type DayRow,
  firstSteps,
  type FirstStepsRow,
  needs,
  type NeedsRow,
  sessionsBetween,
  type SessionRow,
} from './home.queries.js';

/** How much the page shows, and how far it counts. */
const MOST_SESSIONS = 20;
const MOST_PEOPLE = 5;
const MOST_COUNTED = 1_000;

/** What the home page of an organization says. */
export interface Overview {
  needs: NeedsRow;
  steps: FirstStepsRow;
  today: DayRow;
  lessons: SessionRow[];
  moreLessons: boolean;
  /** Who was added in the last seven days. */
  people: PersonRow[];
  morePeople: boolean;
}

/** What needs attention in an organization, and what its day is like. */
@Injectable()
export class Overviews {
  constructor(private readonly db: Database) {}

  async of({ organizationId, timeZone }: Membership): Promise<Overview> {
    const day = dayOf(new Date(), timeZone);
    const [from, to] = [startOfDay(day, timeZone), endOfDay(day, timeZone)];
    const [[needed], [steps], [today], lessons, people] = await this.db.read<
      [NeedsRow, FirstStepsRow, DayRow, SessionRow, PersonRow]
    >(
      { organizationId },
      needs(organizationId, MOST_COUNTED),
      firstSteps(organizationId),
      dayInFigures(organizationId, from, to),
      sessionsBetween(organizationId, from, to, MOST_SESSIONS + 1),
      peoplePage(organizationId, readFilter({ days: '7' }), null, MOST_PEOPLE + 1, true),
    );
    return {
      ...{ needs: needed!, steps: steps!, today: today! },
      lessons: lessons.slice(0, MOST_SESSIONS),
      moreLessons: lessons.length > MOST_SESSIONS,
      people: people.slice(0, MOST_PEOPLE),
      morePeople: people.length > MOST_PEOPLE,
    };
  }
}
