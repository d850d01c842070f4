import type { Grants } from './grants.js';

/** Sessions, what they cost, and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: `SELECT, UPDATE (tutor_id, status, overlap_allowed, completed_at, cancelled_at, cancellation_reason,
        amount_owed_cents, tutor_pay_cents, updated_at)`,
    },
    lesson_participants: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      portal: 'SELECT, UPDATE (status, attendance, billed_cents, cancelled_at)',
    },
    rate_cells: { api: 'SELECT' },
    session_feedback: { api: 'SELECT' },
    availabilities: { api: 'SELECT, INSERT, DELETE', portal: 'SELECT' },
    time_off: { api: 'SELECT, INSERT, DELETE' },
    // Maintained by triggers.
    session_students: {},
  },
  functions: {},
};
