import type { Grants } from './grants.js';

/** Who is to be forgotten, and how that is done. */
export const erasure: Grants = {
  tables: {
    // A key asks, and an owner decides.
    erasures: {
      api: 'SELECT, INSERT (organization_id, person_id, keep_results)',
      portal: 'SELECT, INSERT, UPDATE (due_at, keep_results), DELETE',
    },
    holds: { api: 'SELECT', portal: 'SELECT, INSERT, DELETE' },
    retention_settings: { api: 'SELECT', portal: 'SELECT, INSERT, UPDATE (months, created_at), DELETE' },
  },
  functions: {
    // Of the organization of the transaction.
    retention_due: ['portal'],
    // Parts of others.
    addresses_of: [],
    departures: [],
    // For all organizations; only the worker.
    due_erasures: ['worker'],
    erase_person: ['worker'],
    sealed_texts: ['worker'],
    empty_sealed: ['worker'],
    retentions: ['worker'],
    delete_retained: ['worker'],
  },
};
