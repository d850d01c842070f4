import type { Grants } from './grants.js';

const MADE = 'id, organization_id, url, event_types, description, secret, position, created_by, api_key_id';
const CHANGED =
  'url, event_types, description, secret, previous_secret, previous_until, disabled_at, disabled_reason, updated_at';

/** Webhook endpoints. The worker reaches them by functions alone. */
export const webhooks: Grants = {
  tables: {
    // Endpoints do not outlive the rights of whoever made them; who enables one then has it.
    webhook_endpoints: {
      api: `SELECT, INSERT (${MADE}), UPDATE (${CHANGED}), DELETE`,
      portal: `SELECT, INSERT (${MADE}), UPDATE (${CHANGED}, created_by, api_key_id), DELETE`,
    },
    webhook_progress: {},
  },
  functions: {
    // Of the organization of the transaction.
    replay_webhook: ['api', 'portal'],
    // For all organizations; only the worker.
    fill_webhooks: ['worker'],
    claim_webhook: ['worker'],
    webhook_call: ['worker'],
    finish_webhook: ['worker'],
    troubled_webhooks: ['worker'],
    // Of the organization of the transaction.
    mark_webhook: ['worker'],
  },
};
