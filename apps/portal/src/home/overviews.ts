import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { dayOf, endOfDay, startOfDay } from '@app/scheduling';
import { currencyOf } from '../money/approvals.queries.js';
import { MOST_COUNTED, thisMonth } from '../money/money-lists.js';
import { moneyIn } from '../money/amounts.js';
import { totals, type TotalsRow } from '../money/totals.queries.js';
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

/** What the home page of an organization says. */
export interface Overview {
  needs: NeedsRow;
  steps: FirstStepsRow;
  totals: TotalsRow;
  /** How far is counted. */
  most: number;
  money: (cents: number) => string;
  today: DayRow;
  lessons: SessionRow[];
  moreLessons: boolean;
  /** Who was added in the last seven days. */
  people: PersonRow[];
  morePeople: boolean;
}

/** Reads the home page of an organization. */
@Injectable()
export class Overviews {
  constructor(private readonly db: Database) {}

  async of(organization: Membership): Promise<Overview> {
    const { organizationId, timeZone } = organization;
    const day = dayOf(new Date(), timeZone);
    const [from, to] = [startOfDay(day, timeZone), endOfDay(day, timeZone)];
    const [[needed], [steps], [sums], [terms], [today], lessons, people] = await this.db.read<
      [NeedsRow, FirstStepsRow, TotalsRow, { currency: string }, DayRow, SessionRow, PersonRow]
    >(
      { organizationId },
      needs(organizationId, MOST_COUNTED),
      firstSteps(organizationId),
      totals(organizationId, thisMonth(organization), MOST_COUNTED),
      currencyOf(organizationId),
      dayInFigures(organizationId, from, to),
      sessionsBetween(organizationId, from, to, MOST_SESSIONS + 1),
      peoplePage(organizationId, readFilter({ days: '7' }), null, MOST_PEOPLE + 1, true),
    );
    return {
      ...{ needs: needed!, steps: steps!, today: today!, totals: sums! },
      ...{ most: MOST_COUNTED, money: moneyIn(terms!.currency) },
      lessons: lessons.slice(0, MOST_SESSIONS),
      moreLessons: lessons.length > MOST_SESSIONS,
      people: people.slice(0, MOST_PEOPLE),
      morePeople: people.length > MOST_PEOPLE,
    };
  }
}
