import type { Grants } from './grants.js';

/** The feed of events. Only triggers write changes, and only number_events makes events of them. */
export const events: Grants = {
  tables: {
    events: {
      api: 'SELECT',
      worker: 'SELECT (organization_id, number, resource, resource_id, data)',
      portal: 'SELECT',
    },
    event_floors: { api: 'SELECT' },
    event_changes: {},
    event_counter: {},
  },
  functions: {
    // The API numbers while somebody waits for events.
    number_events: ['api', 'worker'],
    // Of all organizations whose readers wait, only numbers.
    newest_events: ['api'],
    purge_events: ['worker'],
    // Only a number, for /metrics.
    event_lag: ['api'],
  },
};
