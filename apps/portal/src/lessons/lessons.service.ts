import { Injectable } from '@nestjs/common';
import { Database, pageOf, type Position } from '@app/database';
import { PageError } from '../web/page-error.js';
import type { Membership } from '../web/sessions.js';
import { currencyOf } from '../money/approvals.queries.js';
import {
  type ParticipantRow, participantsOf, session, type SessionDetails, type SessionFilter, type SessionRow, sessionsBegun,
} from './lessons.queries.js'; // prettier-ignore

const PAGE = 20;

/** Sessions as far as they are billed, to be read. */
@Injectable()
export class LessonsService {
  constructor(private readonly db: Database) {}

  async list({ organizationId }: Membership, filter: SessionFilter, before: Position | null) {
    const [rows] = await this.db.read<[SessionRow]>(
      { organizationId },
      sessionsBegun(organizationId, filter, before, PAGE + 1),
    );
    const { rows: sessions, next } = pageOf(rows, PAGE, 'starts_at');
    return { sessions, next };
  }

  /** @throws PageError 404 if the organization has no such session */
  async session({ organizationId }: Membership, id: string) {
    const [[found], participants, [organization]] = await this.db.read<
      [SessionDetails, ParticipantRow, { currency: string }]
    >({ organizationId }, session(organizationId, id), participantsOf(organizationId, id), currencyOf(organizationId));
    if (!found) throw PageError.notFound();
    return { session: found, participants, currency: organization!.currency };
  }
}
