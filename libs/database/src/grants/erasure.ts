import type { Grants } from './grants.js';

/** Who is to be forgotten, and how that is done. */
export const erasure: Grants = {
  tables: {
    erasures: { portal: 'SELECT, INSERT, DELETE' },
    holds: { portal: 'SELECT, INSERT, DELETE' },
  },
  functions: {
    // For all organizations; only the worker.
    due_erasures: ['worker'],
    erase_person: ['worker'],
    sealed_texts: ['worker'],
    empty_sealed: ['worker'],
  },
};
