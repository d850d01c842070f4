import type { Grants } from './grants.js';

/** Where organizations are. Only the command line moves them. */
export const moves: Grants = {
  tables: { moves: {} },
  functions: {
    // Of the organization of the transaction.
    enter_home: ['api', 'worker', 'portal'],
  },
};
