import { type ClaimAction, Claims } from '@app/billing';

const DESCRIPTIONS: Record<ClaimAction, string> = {
  approve: 'Only a `logged` one. Again: unchanged.',
  reject: 'Only a `logged` one. Again: unchanged.',
  reimburse: 'Only an `approved` one. The money itself moves elsewhere. Again: unchanged.',
};

const SUMMARIES: Record<ClaimAction, (claim: string) => string> = {
  approve: (claim) => `Approves ${claim} that a tutor claims`,
  reject: (claim) => `Rejects ${claim} that a tutor claims`,
  reimburse: (claim) => `Records that ${claim} was reimbursed`,
};

/** What the decisions on all kinds of claims have in common. @param claim with its article */
export const decision = (claim: string, action: ClaimAction) => ({
  status: 200,
  scope: 'payroll:write' as const,
  summary: SUMMARIES[action](claim),
  description: DESCRIPTIONS[action],
  rules: [Claims] as [typeof Claims],
  conflicts: ['invalid_state' as const],
});
