import type { Grants } from './grants.js';

/** Sessions, what they cost, and their feedback. */
export const scheduling: Grants = {
  tables: {
    sessions: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker:
        'SELECT (organization_id, id, status, tutor_id, subject_id, starts_at, ends_at, mode, meeting_url, location_id)',
      portal: 'SELECT, INSERT, UPDATE, DELETE',
    },
    // An address is looked up by its secret, with a function.
    calendar_feeds: {
      portal: 'SELECT (organization_id, user_id, created_at), INSERT, UPDATE (token_hash, created_at), DELETE',
    },
    removed_sessions: { api: 'INSERT', portal: 'SELECT, INSERT' },
    session_series: { api: 'SELECT, INSERT, UPDATE', portal: 'SELECT, INSERT, UPDATE' },
    lesson_participants: {
      api: 'SELECT, INSERT, UPDATE, DELETE',
      worker: 'SELECT (organization_id, session_id, student_id, status)',
      portal: `SELECT, INSERT, DELETE,
        UPDATE (status, attendance, rate_cents, rate_given, surcharge_cents, billed_cents, cancelled_at)`,
    },
    rate_cells: { api: 'SELECT, INSERT, UPDATE, DELETE', portal: 'SELECT, INSERT, UPDATE, DELETE' },
    session_feedback: { api: 'SELECT, INSERT, UPDATE (is_public)' },
    availabilities: { api: 'SELECT, INSERT, DELETE', portal: 'SELECT, INSERT, DELETE' },
    time_off: { api: 'SELECT, INSERT, DELETE', portal: 'SELECT, INSERT, DELETE' },
    // Maintained by triggers.
    // What row-level security of results asks.
    session_students: { api: 'SELECT', portal: 'SELECT (organization_id, student_id)' },
  },
  functions: {
    calendar_feed: ['portal'],
    calendar_feeds_of: ['portal'],
  },
};
