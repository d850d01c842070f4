import { Injectable } from '@nestjs/common';
import { Database } from '@app/database';
import type { Place } from '../web/place.js';
import type { Membership } from '../web/sessions.js';
import type { ClaimFilter } from './approvals.filter.js';
import { type ClaimRow, claims, currencyOf } from './approvals.queries.js';

const PAGE = 20;

/** What tutors claim, to be read. */
@Injectable()
export class ApprovalsService {
  constructor(private readonly db: Database) {}

  async list({ organizationId }: Membership, filter: ClaimFilter, before: Place | null) {
    const [rows, [organization]] = await this.db.read<[ClaimRow, { currency: string }]>(
      { organizationId },
      claims(organizationId, filter, before, PAGE + 1),
      currencyOf(organizationId),
    );
    const shown = rows.slice(0, PAGE);
    const last = rows.length > PAGE ? shown.at(-1)! : null;
    return { rows: shown, currency: organization!.currency, next: last && { at: last.created_at, id: last.id } };
  }
}
