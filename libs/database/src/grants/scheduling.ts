import type { Grants } from './grants.js';

/** Sessions, what they cost, and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker:
        'SELECT (organization_id, id, status, tutor_id, subject_id, starts_at, ends_at, mode, meeting_url, location_id)',
      portal: `SELECT, UPDATE (tutor_id, student_id, status, overlap_allowed, completed_at, cancelled_at, cancellation_reason,
        amount_owed_cents, tutor_pay_cents, student_rate_cents, tutor_pay_rate_cents, tutor_pay_pct, meeting_url, updated_at)`,
    },
    // An address is looked up by its secret, with a function.
    calendar_feeds: {
      portal: 'SELECT (organization_id, user_id, created_at), INSERT, UPDATE (token_hash, created_at), DELETE',
    },
    removed_sessions: { api: 'INSERT', portal: 'SELECT' },
    session_series: { api: 'SELECT, INSERT, UPDATE', portal: 'SELECT, UPDATE (tutor_id, updated_at)' },
    lesson_participants: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT (organization_id, session_id, student_id, status)',
      portal:
        'SELECT, INSERT, UPDATE (status, attendance, rate_cents, rate_given, surcharge_cents, billed_cents, cancelled_at)',
    },
    rate_cells: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT, INSERT, UPDATE, DELETE' },
    session_feedback: { api: 'SELECT, INSERT, UPDATE (is_public)' },
    availabilities: { api: 'SELECT, INSERT, DELETE', portal: 'SELECT' },
    time_off: { api: 'SELECT, INSERT, DELETE' },
    // Maintained by triggers.
    session_students: { api: 'SELECT' },
  },
  functions: {
    calendar_feed: ['portal'],
    calendar_feeds_of: ['portal'],
  },
};
