import type { Grants } from '../grants.js';

/** Sessions and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: { api: 'SELECT' },
    lesson_participants: {},
    session_feedback: { api: 'SELECT' },
    // Maintained by triggers.
    session_students: {},
  },
  functions: {},
};
