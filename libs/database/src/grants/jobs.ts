import type { Grants } from './grants.js';

/** What came of calls to webhook endpoints. */
const CALLS = 'endpoint_id, event_id, tried_at, response_status, duration_ms, answer';

/** What a mail to a family is about, and how it counts. */
const FAMILY = 'about_id, family_at, unproven';

/** The outbox, suppressed addresses and the worker's signs of life. */
export const jobs: Grants = {
  tables: {
    // Who queues a message cannot read its payload again. The worker queues rebuilds, and claims through claim_outbox.
    outbox: {
      api: `SELECT (id, organization_id, topic, kind, recipient, email_normalized, invite_id, status, attempts, due_at,
        last_error, created_at, finished_at, owner, leased_until, ${FAMILY}, ${CALLS}), INSERT, UPDATE (due_at)`,
      worker: `SELECT (id, organization_id, topic, kind, owner, status, attempts, due_at, leased_until, ${FAMILY}), INSERT, UPDATE (due_at)`,
      portal: `SELECT (id, organization_id, topic, kind, recipient, email_normalized, invite_id, status, attempts, due_at,
        last_error, created_at, finished_at, owner, leased_until, gathered_count, ${FAMILY}, ${CALLS}), INSERT`,
    },
    outbox_turns: {},
    suppressions: {},
    worker_heartbeats: { api: 'SELECT', worker: 'SELECT, INSERT, UPDATE, DELETE' },
  },
  functions: {
    // For all organizations; only the worker.
    claim_outbox: ['worker'],
    renew_outbox: ['worker'],
    finish_outbox: ['worker'],
    release_outbox: ['worker'],
    mend_turns: ['worker'],
    // Parts of a claim.
    begin_claim: [],
    due_message: [],
    due_delivery: [],
    next_due: [],
    rest_turns: [],
    move_turn: [],
    refuse_address: ['worker'],
    is_suppressed: [],
    purge_expired: ['worker'],
    expire_booking_requests: ['worker'],
    sample_organization_bytes: ['worker'],
    // Managers of the organization of the transaction.
    queue_notices: ['api', 'worker', 'portal'],
    // Only for given addresses; no process may read the list.
    suppressed_addresses: ['api', 'worker', 'portal'],
    // For the organization's own mails, each with its own rule.
    own_suppressions: ['portal'],
    allow_address: ['portal'],
    retry_own_outbox: ['portal'],
    // Only numbers, for /metrics.
    outbox_backlog: ['api'],

    // For the operator.
    list_outbox: [],
    retry_outbox: [],
    unsuppress_address: [],
    wrong_copies: [],
    correct_copies: [],
  },
};
