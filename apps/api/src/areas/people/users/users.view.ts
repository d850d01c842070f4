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
