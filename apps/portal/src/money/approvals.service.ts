import { Injectable } from '@nestjs/common';
import { type ActingPerson, AuditLog } from '@app/audit';
import { type ClaimAction, Claims } from '@app/billing';
import { Database } from '@app/database';
import { asManager } from '@app/people';
import type { Place } from '../web/place.js';
import type { Membership } from '../web/sessions.js';
import type { ClaimFilter } from './approvals.filter.js';
import { type ClaimRow, claims, currencyOf } from './approvals.queries.js';

const PAGE = 20;

/** What tutors claim, and what owners and admins decide about it. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly db: Database,
    private readonly claims: Claims,
    private readonly audit: AuditLog,
  ) {}

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

  /** @returns false if it had been done before @throws Refused, see {@link Claims.decide} */
  decide(
    { organizationId }: Membership,
    by: ActingPerson,
    kind: ClaimRow['kind'],
    action: ClaimAction,
    id: string,
    approvedCents: number | null,
  ): Promise<boolean> {
    const [claim, name] = kind === 'mileage' ? (['mileage', 'trip_id'] as const) : (['expense', 'claim_id'] as const);
    return asManager(this.db, organizationId, by, async () => {
      const changed = await this.claims.decide(organizationId, claim, action, id, approvedCents);
      if (changed) await this.audit.add(organizationId, by, `${action}_${claim}`, { [name]: id });
      return changed;
    });
  }
}
