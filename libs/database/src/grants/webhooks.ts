import type { Grants } from './grants.js';

/** Webhook endpoints. The worker reaches them by functions alone. */
export const webhooks: Grants = {
  tables: {
    // Endpoints do not outlive the rights of whoever made them.
    webhook_endpoints: {
      api: 'SELECT, UPDATE (disabled_at, disabled_reason, updated_at)',
      portal: 'SELECT, UPDATE (disabled_at, disabled_reason, updated_at)',
    },
    webhook_progress: {},
  },
  functions: {
    // Of the organization of the transaction.
    replay_webhook: [],
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
