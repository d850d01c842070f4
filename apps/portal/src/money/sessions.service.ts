import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import { PageError } from '../web/page-error.js';
import type { Place } from '../web/place.js';
import type { Membership } from '../web/sessions.js';
import { currencyOf } from './approvals.queries.js';
import {
  type PlaceRow, placesOf, session, type SessionDetails, type SessionFilter, type SessionRow, sessionsBegun,
} from './sessions.queries.js'; // prettier-ignore

const PAGE = 20;

/** Sessions as far as they are billed, to be read. */
@Injectable()
export class SessionsService {
  constructor(private readonly db: Database) {}

  async list({ organizationId }: Membership, filter: SessionFilter, before: Place | null) {
    const [rows] = await this.db.read<[SessionRow]>(
      { organizationId },
      sessionsBegun(organizationId, filter, before, PAGE + 1),
    );
    const shown = rows.slice(0, PAGE);
    const last = rows.length > PAGE ? shown.at(-1)! : null;
    return { sessions: shown, next: last && { at: last.starts_at, id: last.id } };
  }

  /** @throws PageError 404 if the organization has no such session */
  async session({ organizationId }: Membership, id: string) {
    const [[found], places, [organization]] = await this.db.read<[SessionDetails, PlaceRow, { currency: string }]>(
      { organizationId },
      session(organizationId, id),
      placesOf(organizationId, id),
      currencyOf(organizationId),
    );
    if (!found) throw PageError.notFound();
    return { session: found, places, currency: organization!.currency };
  }
}
