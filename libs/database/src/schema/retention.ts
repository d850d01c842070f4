import { variables } from '@app/config';

/** The settings with the days for which rows are kept. */
export const RETENTION_SETTINGS = [
  ...(['AUDIT_DAYS', 'AUDIT_NETWORK_DAYS', 'REFUSAL_DAYS', 'REFUSAL_COUNT_DAYS'] as const),
  ...(['OUTBOX_DAYS', 'REQUEST_LOG_DAYS', 'EVENT_DAYS'] as const),
] as const;

export type RetentionSetting = (typeof RETENTION_SETTINGS)[number];

interface Retention {
  table: string;
  /** The column from which the days count. */
  column: string;
  days: number | RetentionSetting;
  /** SQL: only these rows. */
  where?: string;
  /** Only this column is emptied; the row stays. */
  empties?: string;
  /** What deletes them, if not purge_expired. */
  by?: string;
}

/** Every table that grows by itself, and how long it keeps its rows. */
export const RETENTION: Retention[] = [
  { table: 'audit_log', column: 'created_at', days: 'AUDIT_DAYS' },
  { table: 'audit_log', column: 'created_at', days: 'REFUSAL_DAYS', where: 'status >= 400' },
  { table: 'audit_log', column: 'created_at', days: 'AUDIT_NETWORK_DAYS', where: `operation = 'sign in'` },
  {
    ...{ table: 'audit_log', column: 'created_at', days: 'AUDIT_NETWORK_DAYS', empties: 'network' },
    where: `network IS NOT NULL AND operation <> 'sign in'`,
  },
  { table: 'refusals', column: 'minute', days: 'REFUSAL_COUNT_DAYS' },
  { table: 'request_log', column: 'created_at', days: 'REQUEST_LOG_DAYS', by: 'trim_request_log' },
  { table: 'outbox', column: 'finished_at', days: 'OUTBOX_DAYS', where: `topic IN ('email', 'rebuild')` },
  { table: 'outbox', column: 'finished_at', days: 30, where: `topic = 'webhook'` },
  { table: 'events', column: 'timestamp', days: 'EVENT_DAYS', by: 'purge_events' },
  { table: 'event_changes', column: 'told', days: 0, by: 'number_events' },
  { table: 'idempotency_keys', column: 'expires_at', days: 0 },
  { table: 'api_key_handovers', column: 'expires_at', days: 0, by: 'purge_api_key_handovers' },
  { table: 'uploads', column: 'created_at', days: 1, where: 'no file names it', by: 'delete_unnamed_uploads' },
  // Whoever opens one late is told so.
  { table: 'invites', column: 'expires_at', days: 30, where: 'NOT standing' },
  { table: 'joins', column: 'joined_at', days: 30, by: 'the end of its invite' },
  { table: 'removed_sessions', column: 'removed_at', days: 30 },
  // As ALIVE, of the functions of sign-in, has it.
  { table: 'portal_sessions', column: 'last_seen_at', days: 3 },
  { table: 'portal_sessions', column: 'created_at', days: 30 },
  { table: 'password_links', column: 'expires_at', days: 0 },
  { table: 'password_link_requests', column: 'requested_at', days: 1 },
  { table: 'sign_in_attempts', column: 'minute', days: 1 },
  { table: 'suppressions', column: 'created_at', days: 90, where: `coalesce(suppressed_until, '-infinity') < now()` },
  { table: 'exports', column: 'ended_at', days: 365 },
  { table: 'lesson_tellings', column: 'starts_at', days: 30 },
  { table: 'worker_heartbeats', column: 'seen_at', days: 1, by: 'the heartbeats of others' },
];

/** The tables that do not grow by themselves, by reason. */
export const LASTING = {
  'Organizations, people and what opens their logins': [
    ...['organizations', 'moves', 'users', 'members', 'parents', 'parent_students', 'tutor_profiles', 'tutor_subjects'],
    ...['calendar_feeds', 'api_keys', 'credentials', 'passkeys', 'device_cookies'],
  ],
  'What an organization records, until it deletes it, also by its retention': [
    ...[
      'classrooms',
      'classroom_members',
      'student_groups',
      'student_group_members',
      'tutor_students',
      'homework',
      'results',
    ],
    ...[
      'session_series',
      'sessions',
      'lesson_participants',
      'availabilities',
      'time_off',
      'session_feedback',
      'leads',
      'booking_requests',
    ],
    ...['locations', 'lesson_plans', 'files', 'questions', 'conversations', 'conversation_participants', 'messages'],
    ...['inbox_messages', 'blog_posts', 'rebuild_hooks', 'webhook_endpoints'],
  ],
  'Money: books have to be kept': [
    ...[
      'adjustments',
      'payouts',
      'invoices',
      'invoice_lines',
      'payments',
      'payment_allocations',
      'mileage_trips',
      'expense_claims',
    ],
  ],
  'Until the person is erased, or somebody calls it off': ['erasures', 'holds', 'account_deletions'],
  'A few rows that are set': [
    ...['logos', 'retention_settings', 'family_switches', 'family_rounds', 'mail_opt_outs'],
    ...['mail_links', 'invoice_reminders'],
    ...['subjects', 'rate_bands', 'tutor_tiers', 'rate_cells', 'places', 'isochrones'],
    ...['event_counter', 'event_floors', 'webhook_progress'],
  ],
  'Copies, which go with their sources': [
    'list_counts',
    'organization_results',
    'organization_conversations',
    'session_students',
    'outbox_turns',
  ],
};

/** The moment before which rows go. */
function cutoff(days: Retention['days']): string {
  if (days === 0) return 'now()';
  if (typeof days === 'number') return `now() - interval '${days} days'`;
  // As a subquery: row-level security lets an index compare with a value, but with no expression that might reveal the row.
  return `(SELECT now() - greatest(1, coalesce((days ->> '${days}')::integer, ${variables[days].fallback})) * interval '1 day')`;
}

const RULES = RETENTION.filter(({ by }) => !by);

/** Deletes 5,000 rows of each kind at most, so that no call takes long; locked rows are left for the next one. */
const DELETIONS = RULES.map(({ table, column, days, where, empties }, index) => {
  const old = `(SELECT ctid FROM ${table} WHERE ${column} < ${cutoff(days)}${where ? ` AND ${where}` : ''}
        LIMIT 5000 FOR UPDATE SKIP LOCKED)`;
  const change = empties ? `UPDATE ${table} SET ${empties} = NULL` : `DELETE FROM ${table}`;
  return `r${index} AS (${change} WHERE ctid = ANY (ARRAY${old}) RETURNING 1)`;
});

/** The body of purge_expired. */
export const PURGE = `WITH ${DELETIONS.join(',\n      ')}
    ${RULES.map(({ table }, index) => `SELECT '${table}', count(*) FROM r${index}`).join(' UNION ALL ')}`;
