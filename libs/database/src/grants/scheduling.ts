import type { Grants } from '../grants.js';

/** Sessions and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: { api: 'SELECT' },
    lesson_participants: {},
    session_feedback: { api: 'SELECT' },
    availabilities: { api: 'SELECT, INSERT, DELETE' },
    time_off: { api: 'SELECT, INSERT, DELETE' },
    // Maintained by triggers.
    session_students: {},
  },
  functions: {},
};
