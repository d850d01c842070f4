import { type ClaimAction, Claims } from '@app/billing';
import { kinds } from '../../http/kit.js';

const DESCRIPTIONS: Record<ClaimAction, string> = {
  approve: 'Only a `logged` one, with an amount. Again: unchanged.',
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

/** Fields that all kinds of claims have. */
export const CLAIMED = {
  tutor_id: { required: true, description: 'A tutor, admin or owner (user id), archived ones too.' },
  session_id: { nullable: true, description: 'The session that it was for: one of this tutor, which has begun.' },
};

export const DAY = {
  kind: kinds.day,
  required: true,
  description: 'Not later than today in the organization’s time zone.',
};

/** What is said of all kinds of claims that are written. */
export const NOTES = {
  create: 'It is `logged`, and waits for a decision.',
  change: 'Only while it is `logged`.',
  remove: 'Only while it is `logged`.',
};
