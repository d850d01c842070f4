import { Injectable } from '@nestjs/common';
import { type ClaimAction, type ClaimKind, Claims } from '@app/billing';
import { Audit, type Caller, type JsonText, Records, type Shown } from '../../http/kit.js';

/** Decides claims of tutors for the API's callers. */
@Injectable()
export class ClaimDecisions {
  constructor(
    private readonly records: Records,
    private readonly claims: Claims,
    private readonly audit: Audit,
  ) {}

  async decide(
    caller: Caller,
    shown: Shown,
    kind: ClaimKind,
    action: ClaimAction,
    id: string,
    approvedCents: number | null = null,
  ): Promise<JsonText> {
    await this.claims.decide(caller.organizationId, kind, action, id, approvedCents);
    this.audit.note({ [kind === 'mileage' ? 'trip_id' : 'claim_id']: id });
    return this.records.written(caller, shown, id);
  }
}
