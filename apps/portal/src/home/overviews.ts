import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { type MailAllowance, Outbox } from '@app/jobs';
import { dayOf, endOfDay, startOfDay } from '@app/scheduling';
import { readFilter } from '../people/people.filter.js';
import { peoplePage, type PersonRow } from '../people/people.queries.js';
import type { Membership } from '../web/sessions.js';
import {
  dayInFigures,
  type DayRow,
  needs,
  type NeedsRow,
  type OpenSessionRow,
  type RequestsRow,
  requestsSince,
  sessionsBetween,
  type SessionRow,
  sessionsWithoutTutor,
} from './home.queries.js';

/** How much the page shows, and how far it counts. */
const MOST_SESSIONS = 20;
const MOST_OPEN = 5;
const MOST_PEOPLE = 5;
const MOST_COUNTED = 1_000;
const MOST_REQUESTS = 10_000;

/** What the home page of an organization says. */
export interface Overview {
  needs: NeedsRow;
  /** The next sessions without a tutor. */
  open: OpenSessionRow[];
  today: DayRow;
  sessions: SessionRow[];
  moreSessions: boolean;
  requests: RequestsRow;
  mails: MailAllowance;
  /** Who was added in the last seven days. */
  people: PersonRow[];
  morePeople: boolean;
}

/** What needs somebody in an organization, and what its day is like. */
@Injectable()
export class Overviews {
  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
  ) {}

  async of({ organizationId, timeZone }: Membership): Promise<Overview> {
    const day = dayOf(new Date(), timeZone);
    const [from, to] = [startOfDay(day, timeZone), endOfDay(day, timeZone)];
    const [[needed], open, [today], sessions, [requests], people, mails] = await this.read(organizationId, from, to);
    return {
      needs: needed!,
      open,
      today: today!,
      sessions: sessions.slice(0, MOST_SESSIONS),
      moreSessions: sessions.length > MOST_SESSIONS,
      requests: requests!,
      mails,
      people: people.slice(0, MOST_PEOPLE),
      morePeople: people.length > MOST_PEOPLE,
    };
  }

  private async read(organizationId: string, from: Date, to: Date) {
    type Rows = [NeedsRow, OpenSessionRow, DayRow, SessionRow, RequestsRow, PersonRow];
    const [rows, mails] = await Promise.all([
      this.db.read<Rows>(
        { organizationId },
        needs(organizationId, MOST_COUNTED),
        sessionsWithoutTutor(organizationId, MOST_OPEN),
        dayInFigures(organizationId, from, to),
        sessionsBetween(organizationId, from, to, MOST_SESSIONS + 1),
        requestsSince(organizationId, from, MOST_REQUESTS),
        peoplePage(organizationId, readFilter({ days: '7' }), null, MOST_PEOPLE + 1, true),
      ),
      this.outbox.allowance(organizationId),
    ]);
    return [...rows, mails] as const;
  }
}
