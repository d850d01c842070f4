import type { Grants } from './grants.js';

/** Exports. A key asks, an owner confirms and fetches, the worker prepares. */
export const exports: Grants = {
  tables: {
    exports: {
      api: 'SELECT, INSERT (id, organization_id, api_key_id, expires_at), UPDATE (sent, status, ended_at)',
      worker:
        'SELECT (id, organization_id, status, confirmed_by, tries), UPDATE (status, leased_until, ready_at, expires_at, bytes)',
      portal: `SELECT, INSERT (id, organization_id, status, created_by, confirmed_by, confirmed_at, expires_at),
        UPDATE (status, confirmed_by, confirmed_at, ended_at, expires_at, leased_until)`,
    },
  },
  functions: {
    // Of the organization of the transaction, while an export that an owner has confirmed is being prepared.
    open_export: ['worker'],
    totals_of_export: ['worker'],
    // Of the organization of the transaction, about the person of a session.
    own_rows: ['portal'],
    // For all organizations; only the worker.
    claim_export: ['worker'],
    end_exports: ['worker'],
    // Parts of them, and for the operator.
    may_export: [],
    export_contents: [],
    export_statements: [],
    open_rows: [],
    totals_of: [],
  },
};
