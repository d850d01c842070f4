import type { Grants } from './grants.js';

/** The feed of events. Only triggers write changes, and only number_events makes events of them. */
export const events: Grants = {
  tables: {
    events: {},
    event_changes: {},
    event_counter: {},
  },
  functions: {
    number_events: ['worker'],
    // Only a number, for /metrics.
    event_lag: [],
  },
};
