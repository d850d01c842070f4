import type { Grants } from '../grants.js';

/** Sessions and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: { api: 'SELECT' },
    lesson_participants: { api: 'SELECT' },
    session_feedback: { api: 'SELECT' },
    // Maintained by triggers.
    session_students: {},
  },
  functions: {},
};
