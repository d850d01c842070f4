/** What an export holds of a table, besides what the schema says. */
export interface Content {
  /** SQL: which rows `t` are those of the organization `$1`. By default, those that its column says. */
  own?: string;
  /** Fields in place of columns, as SQL about the row `t`. */
  fields?: Record<string, string>;
  /** Columns that are left out, because they are proofs or secrets. */
  secret?: readonly string[];
}

const SHOWN = (table: string, id: string) => `IN (SELECT ${id} FROM ${table} o WHERE o.organization_id = $1)`;
const SEEN_CONVERSATION = SHOWN('organization_conversations', 'conversation_id');

/**
 * The tables of an organization's data, each after those that it refers to. Importing them into an empty installation makes
 * it what it was. Row-level security shows of people, results and conversations what the organization may see of them.
 */
export const EXPORTED_DATA: Record<string, Content> = {
  organizations: { own: 't.id = $1' },
  logos: {},
  // Everybody whom a row names: see functions/exports.ts.
  users: {},
  rate_bands: {},
  tutor_tiers: {},
  members: {},
  subjects: {},
  rate_cells: {},
  tutor_profiles: {},
  tutor_subjects: {},
  tutor_students: {},
  parents: {},
  parent_students: {},
  classrooms: {},
  classroom_members: {},
  student_groups: { fields: { owned: 't.owner_organization_id IS NOT NULL' } },
  student_group_members: { own: `t.group_id ${SHOWN('student_groups', 'id')}` },
  locations: {},
  session_series: {},
  sessions: {},
  lesson_participants: {},
  availabilities: {},
  time_off: {},
  leads: {},
  booking_requests: {},
  isochrones: {},
  lesson_plans: {},
  uploads: {},
  files: {},
  questions: {},
  homework: {},
  session_feedback: {},
  results: {
    own: `(t.id ${SHOWN('organization_results', 'result_id')} OR t.made_by_organization_id = $1)`,
    fields: { made_here: 't.made_by_organization_id IS NOT DISTINCT FROM $1' },
  },
  conversations: { own: `t.id ${SEEN_CONVERSATION}` },
  conversation_participants: { own: `t.conversation_id ${SEEN_CONVERSATION}` },
  messages: { own: `t.organization_id = $1 AND t.conversation_id ${SEEN_CONVERSATION}` },
  inbox_messages: {},
  adjustments: {},
  payouts: {},
  invoices: {},
  invoice_lines: {},
  payments: {},
  payment_allocations: {},
  mileage_trips: {},
  expense_claims: {},
  blog_posts: {},
  erasures: {},
  holds: {},
  retention_settings: {},
  family_switches: {},
  mail_opt_outs: {},
  invoice_reminders: {},
};

/**
 * What has happened here, to be read: an import leaves it alone. Without the texts of mails, because they hold links, and
 * without what a browser was found by.
 */
export const EXPORTED_HISTORY: Record<string, Content> = {
  api_keys: { secret: ['key_hash', 'form_token'] },
  invites: { secret: ['secret_hash', 'proof_hash', 'sealed'] },
  joins: {},
  audit_log: { secret: ['network'] },
  refusals: {},
  request_log: {},
  events: {},
  outbox: { secret: ['payload', 'gathered', 'leased_by', 'leased_until'] },
  webhook_endpoints: { secret: ['secret', 'previous_secret', 'previous_until'] },
  suppressions: {},
  removed_sessions: {},
  mail_links: { secret: ['token'] },
  // Whoever knows the address of a hook may call it.
  rebuild_hooks: { secret: ['url', 'secret', 'previous_secret', 'previous_until'] },
};

/** The tables that no export holds, by reason. */
export const NOT_EXPORTED = {
  'Derived from other rows, and derived again': [
    ...['list_counts', 'organization_results', 'organization_conversations', 'session_students', 'outbox_turns'],
  ],
  'A secret, or stored answers that may hold one': ['calendar_feeds', 'api_key_handovers', 'idempotency_keys'],
  'How far mails of news have come: it begins anew where the organization is imported': ['family_rounds', 'lesson_tellings'],
  'What people sign in with, which is theirs': [
    ...['credentials', 'passkeys', 'device_cookies', 'portal_sessions', 'password_links', 'password_link_requests'],
    ...['sign_in_attempts', 'account_deletions'],
  ],
  'Of the installation': ['places', 'worker_heartbeats', 'event_changes', 'event_counter', 'event_floors', 'webhook_progress', 'exports', 'moves'],
} as const; // prettier-ignore

/** Columns of data that follow from other rows, or that only the person themselves can prove. */
export const DERIVED_COLUMNS: ReadonlySet<string> = new Set([
  'organization_id',
  'owner_organization_id',
  'made_by_organization_id',
  'email_normalized',
  'email_verified_at',
  'phone_digits',
  'seen_by',
  'enrolled_at',
  'profile_published',
  'teaching',
  'has_comment',
  'counts_at',
  'serial',
  'catalogue',
]);

/** Columns of data that this service sets and no file but an export's. */
export const STATE_COLUMNS: ReadonlySet<string> = new Set([
  'approval_requested_at',
  'pays',
  'frozen_at',
  'refused_at',
  'readdressed_from',
  'ahead',
  'last_message_at',
  'overlap_allowed',
  'student_rate_given',
  'set_rate_cents',
  'tutor_pay_given',
  'rate_given',
  'billed_cents',
  'collecting',
  'rebilled',
  ...['snapshot', 'tax_cents', 'billed_parent_id', 'person_erased'],
  'charged_pct',
  'taken_back',
  'taken_back_at',
  'void_reason',
  'recorded',
  'credit_cents',
  'upload_id',
  'receipt_file_id',
]);
