import type { ProvisioningResult } from '@app/people';
import { objectOf, orNull, type Schema, type Shape, UUID } from '../../../http/kit.js';

/** The result for one row. */
export interface ResultItem {
  index: number;
  type: string;
  email: string | null;
  status: 'ok' | 'exists' | 'error';
  id: string | null;
  created: boolean | null;
  invited: boolean | null;
  error: string | null;
}

export interface BulkInviteAnswer {
  results: ResultItem[];
  summary: { total: number; ok: number; exists: number; errors: number; created: number };
}

const count = (description: string, example: number): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
});

const item = objectOf({
  index: { type: 'integer', minimum: 0, description: 'Position of the row in the request.' },
  type: { type: 'string', enum: ['student', 'tutor', 'parent'] },
  email: { type: ['string', 'null'], examples: ['mia@example.org'] },
  status: {
    type: 'string',
    enum: ['ok', 'exists', 'error'],
    description: '`ok`: provisioned or invited. `exists`: already exists, nothing was done. `error`: nothing was done.',
  },
  id: orNull(UUID),
  created: { type: ['boolean', 'null'], description: 'Whether a new login was created.' },
  invited: { type: ['boolean', 'null'], description: 'Whether this call queued an email.' },
  error: { type: ['string', 'null'], examples: [null], description: 'What is wrong with the row.' },
});

export const bulkInviteShape: Shape = {
  name: 'BulkInviteResponse',
  schema: objectOf({
    results: { type: 'array', items: item, description: 'One result per row, in the same order.' },
    summary: objectOf({
      total: count('ok + exists + errors', 1),
      ok: count('Rows provisioned or invited.', 1),
      exists: count('Rows that already existed.', 0),
      errors: count('Rows that could not be provisioned.', 0),
      created: count('Rows for which a new login was created.', 1),
    }),
  }),
};

export function answerOf(
  rows: { type: string; email?: string | null }[],
  outcomes: ProvisioningResult[],
): BulkInviteAnswer {
  const results = rows.map((row, index) => toResult(row, index, outcomes[index]!));
  const count = (holds: (result: ResultItem) => boolean) => results.filter(holds).length;
  const summary = {
    total: results.length,
    ok: count(({ status }) => status === 'ok'),
    exists: count(({ status }) => status === 'exists'),
    errors: count(({ status }) => status === 'error'),
    created: count(({ created }) => created === true),
  };
  return { results, summary };
}

function toResult(
  { type, email = null }: { type: string; email?: string | null },
  index: number,
  outcome: ProvisioningResult,
): ResultItem {
  const row = { index, type, email, status: outcome.status };
  if (outcome.status === 'error') {
    return { ...row, id: null, created: null, invited: null, error: outcome.refusal.reason };
  }
  const { id, created, invited } = outcome;
  return { ...row, id, created, invited, error: null };
}
