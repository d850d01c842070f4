import type { Grants } from './grants.js';

/** Who is to be forgotten, and how that is done. */
export const erasure: Grants = {
  tables: {
    // A key asks, and an owner decides.
    erasures: {
      api: 'SELECT, INSERT (organization_id, person_id, keep_results)',
      portal: 'SELECT, INSERT, UPDATE (due_at, keep_results), DELETE',
    },
    account_deletions: {},
    holds: { api: 'SELECT', portal: 'SELECT, INSERT, DELETE' },
    retention_settings: { api: 'SELECT', portal: 'SELECT, INSERT, UPDATE (months, created_at), DELETE' },
  },
  functions: {
    // Of the person of a session.
    account_deletion: ['portal'],
    ask_account_deletion: ['portal'],
    call_off_account_deletion: ['portal'],
    // For all organizations: it ends memberships, which the worker has no right to.
    due_account_deletions: ['portal'],
    ties_of: [],
    audit_own: [],
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
