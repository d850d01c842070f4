import { applyDecorators, Injectable } from '@nestjs/common';
import { type ClaimAction, type ClaimKind, Claims } from '@app/billing';
import {
  Audit, type Caller, Documented, type JsonText, one, Post, Records, RequireScopes, type Shown,
} from '../../http/kit.js'; // prettier-ignore

const TOLD: Record<ClaimAction, { summary: (claim: string) => string; description: string }> = {
  approve: {
    summary: (claim) => `Approves ${claim} that a tutor claims`,
    description: 'Only a `logged` one. Again: unchanged.',
  },
  reject: {
    summary: (claim) => `Rejects ${claim} that a tutor claims`,
    description: 'Only a `logged` one. Again: unchanged.',
  },
  reimburse: {
    summary: (claim) => `Records that ${claim} was reimbursed`,
    description: 'Only an `approved` one. The money itself moves elsewhere. Again: unchanged.',
  },
};

/** The routes of the decisions on a kind of claim. @param claim with its article @param id the path's parameter */
export const decisions =
  (kind: ClaimKind, { claim, id, view }: { claim: string; id: string } & Pick<Shown, 'view'>) =>
  (action: ClaimAction, more: Partial<Parameters<typeof Documented>[0]> = {}) =>
    applyDecorators(
      Post(`:${id}/${action}`, 200),
      RequireScopes('payroll:write'),
      Documented({
        id: `${action}_${kind}`,
        summary: TOLD[action].summary(claim),
        description: TOLD[action].description,
        answer: one(view),
        conflicts: ['invalid_state'],
        ...more,
      }),
    );

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
    const decided = await this.claims.decide(caller.organizationId, kind, action, id, approvedCents);
    this.audit.note({ [kind === 'mileage' ? 'trip_id' : 'claim_id']: id }, decided);
    return this.records.written(caller, shown, id);
  }
}
