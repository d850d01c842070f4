import { Injectable } from '@nestjs/common';
import { Database, pageOf, type Position } from '@app/database';
import type { Membership } from '../web/sessions.js';
import type { ClaimFilter } from './approvals.filter.js';
import { type ClaimRow, claims, currencyOf } from './approvals.queries.js';

const PAGE = 20;

/** What tutors claim, to be read. */
@Injectable()
export class ApprovalsService {
  constructor(private readonly db: Database) {}

  async list({ organizationId }: Membership, filter: ClaimFilter, before: Position | null) {
    const [rows, [organization]] = await this.db.read<[ClaimRow, { currency: string }]>(
      { organizationId },
      claims(organizationId, filter, before, PAGE + 1),
      currencyOf(organizationId),
    );
    return { ...pageOf(rows, PAGE, 'created_at'), currency: organization!.currency };
  }
}
