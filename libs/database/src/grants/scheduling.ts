import type { Grants } from '../grants.js';

/** Sessions and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: {
      api: 'SELECT, UPDATE (tutor_id, status, cancelled_at, updated_at)',
      portal: 'SELECT, UPDATE (tutor_id, status, cancelled_at, updated_at)',
    },
    lesson_participants: {
      api: 'SELECT, UPDATE (status, cancelled_at)',
      portal: 'SELECT, UPDATE (status, cancelled_at)',
    },
    session_feedback: { api: 'SELECT' },
    // Maintained by triggers.
    session_students: {},
  },
  functions: {},
};
