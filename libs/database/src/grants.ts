/** Processes with their own database role. Another role, the owner, runs migrations and the command line. */
export type ProcessRole = 'api' | 'worker' | 'portal';

/** The variable with each role's URL. */
export const ROLE_SETTINGS = {
  api: 'DATABASE_URL',
  worker: 'WORKER_DATABASE_URL',
  portal: 'PORTAL_DATABASE_URL',
} as const;

const LOGIN_COLUMNS =
  'email, email_normalized, placeholder_email, first_name, last_name, phone, created_at, updated_at';

/**
 * Rights on tables, in the syntax of GRANT: a privilege without columns covers the whole table. What is not listed is
 * not granted. `migrate` applies this table to the database, and each process compares its own rights with it at start.
 */
export const TABLE_GRANTS: Record<string, Partial<Record<ProcessRole, string>>> = {
  organizations: { api: 'SELECT', portal: 'SELECT' },
  // What an organization supplies about a login. No process may write whether an address is proven, read which
  // organizations see a login, or delete a login.
  users: {
    api: `SELECT (id, ${LOGIN_COLUMNS}, email_verified_at), INSERT (id, ${LOGIN_COLUMNS}), UPDATE (${LOGIN_COLUMNS})`,
    portal: `SELECT (id, ${LOGIN_COLUMNS}, email_verified_at), INSERT (id, ${LOGIN_COLUMNS})`,
  },
  credentials: {},
  portal_sessions: {},
  password_links: {},
  password_link_requests: {},
  passkeys: {},
  sign_in_attempts: {},
  device_cookies: {},
  members: {
    api: 'SELECT, INSERT, UPDATE',
    portal: 'SELECT, INSERT, UPDATE (status, archived_at, approval_requested_at, invited_at)',
  },
  subjects: { api: 'SELECT' },
  tutor_profiles: { api: 'SELECT, INSERT', portal: 'SELECT, INSERT' },
  tutor_subjects: { api: 'SELECT' },
  tutor_students: {
    api: 'SELECT, INSERT, UPDATE (status, archived_at)',
    portal: 'SELECT, INSERT, UPDATE (status, archived_at)',
  },
  parents: { api: 'SELECT, INSERT, UPDATE', portal: 'SELECT, INSERT' },
  parent_students: { api: 'SELECT, INSERT', portal: 'SELECT, INSERT' },
  classrooms: { api: 'SELECT', portal: 'SELECT' },
  classroom_members: { api: 'SELECT, INSERT, UPDATE (role)', portal: 'SELECT, INSERT, UPDATE (role)' },
  student_groups: { api: 'SELECT, UPDATE (updated_at)', portal: 'SELECT, UPDATE (updated_at)' },
  student_group_members: { api: 'SELECT, INSERT, UPDATE (role)', portal: 'SELECT, INSERT, UPDATE (role)' },
  sessions: { api: 'SELECT' },
  session_participants: { api: 'SELECT' },
  session_feedback: { api: 'SELECT' },
  homework: { api: 'SELECT' },
  // Shown through organization_results and organization_conversations.
  results: {},
  conversations: {},
  conversation_participants: {},
  messages: {},
  adjustments: { api: 'SELECT' },
  invoices: { api: 'SELECT' },
  invoice_lines: { api: 'SELECT' },
  payments: { api: 'SELECT' },
  mileage_trips: { api: 'SELECT' },
  expense_claims: { api: 'SELECT' },

  // Maintained by triggers.
  session_students: {},
  organization_results: { api: 'SELECT' },
  organization_conversations: { api: 'SELECT' },
  list_counts: { api: 'SELECT' },

  // The worker publishes scheduled posts.
  blog_posts: {
    api: 'SELECT, INSERT, UPDATE, DELETE',
    worker: 'SELECT, UPDATE (status, published_at, scheduled_at, updated_at)',
  },

  // Keys are looked up by hash (api_key_by_hash). No process may extend the rights of one.
  api_keys: {
    api: 'SELECT (id, organization_id, last_used_at), UPDATE (last_used_at)',
    worker: `SELECT (id, organization_id, name, first_four, last_four, expires_at, revoked_at, last_used_at, expiry_warned_days),
      UPDATE (expiry_warned_days)`,
    portal: `SELECT (id, organization_id, name, first_four, last_four, scopes, platform_blog, created_by, created_at, expires_at,
      revoked_at, last_used_at, replaced_by, form_token), INSERT (id, organization_id, name, key_hash, first_four, last_four,
      scopes, created_by, expires_at, form_token), UPDATE (expires_at, revoked_at, replaced_by, replaced_at)`,
  },
  api_key_handovers: {
    portal:
      'SELECT (api_key_id, organization_id, sealed, expires_at), INSERT (api_key_id, organization_id, sealed), DELETE',
  },
  idempotency_keys: { api: 'SELECT, INSERT, UPDATE' },
  // Append-only.
  audit_log: { api: 'INSERT', worker: 'INSERT', portal: 'INSERT' },
  // The worker creates missing join codes.
  invites: {
    api: 'SELECT, INSERT, UPDATE (revoked_at, accepted_at, proof_hash)',
    worker: 'SELECT (id), INSERT',
    portal: 'SELECT, INSERT, UPDATE (revoked_at, accepted_at, proof_hash)',
  },
  // A process that queues a message cannot read its payload again. The worker queues rebuilds; it claims through
  // claim_outbox.
  outbox: {
    api: `SELECT (organization_id, topic, kind, recipient, email_normalized, invite_id, status, attempts, due_at, created_at), INSERT,
      UPDATE (due_at)`,
    worker: 'SELECT (organization_id, topic, kind, recipient, status, attempts, due_at), INSERT, UPDATE (due_at)',
    portal: `SELECT (id, organization_id, topic, kind, recipient, email_normalized, invite_id, status, attempts, due_at, last_error,
      created_at, finished_at), INSERT`,
  },
  suppressions: {},
  suppression_senders: {},
  // Only the operator may trust a hook, or change the URL of an existing one.
  rebuild_hooks: {
    portal:
      'SELECT, INSERT (target, organization_id, url, secret), UPDATE (secret, previous_secret, previous_until), DELETE',
  },
  // Written only by log_requests.
  request_log: { api: 'SELECT', portal: 'SELECT' },
  worker_heartbeats: { api: 'SELECT', worker: 'SELECT, INSERT, UPDATE, DELETE' },
  migrations: { api: 'SELECT', worker: 'SELECT', portal: 'SELECT' },
};

/**
 * The roles that may run each function, besides the owner. Functions with the owner's rights are the only way to bypass
 * the organization of a transaction. Trigger functions are not listed, because nobody calls them.
 */
export const FUNCTION_GRANTS: Record<string, ProcessRole[]> = {
  // Called by row-level security.
  current_organization_id: ['api', 'worker', 'portal'],
  group_of_others: ['api', 'portal'],
  conversation_of_others: ['api'],

  // Called by triggers, as the owner.
  lock_people: [],
  only_organization_of: [],
  show_conversations: [],

  // Before an organization is known; and what provisioning must know of logins elsewhere: ids, never identities.
  api_key_by_hash: ['api'],
  logins_by_email: ['api', 'portal'],
  tied_elsewhere: ['api', 'portal'],
  hold_ties_elsewhere: ['api', 'portal'],

  // Opening a link, accepting and signing in: each enforces its own rule.
  invite_by_hash: ['portal'],
  identity_of: ['portal'],
  set_first_password: ['portal'],
  take_login: ['portal'],
  set_first_passkey: ['portal'],
  take_login_with_passkey: ['portal'],
  is_used: [],
  has_passkeys: ['portal'],
  store_passkey: [],
  accept_ties: ['portal'],
  membership_offers: ['portal'],
  decline_ties: ['portal'],
  mail_credential_notice: ['portal'],
  approve_member: ['portal'],

  // The portal's sessions: each opens only what belongs to the given secret.
  open_portal_session: ['portal'],
  is_known_browser: ['portal'],
  renew_portal_session: ['portal'],
  portal_session: ['portal'],
  list_portal_sessions: ['portal'],
  end_portal_session: ['portal'],
  end_other_portal_sessions: ['portal'],
  add_password_link: [],
  // The portal records what was entered; the worker looks it up.
  request_password_link: ['portal'],
  resolve_password_links: ['worker'],
  // Called by resolve_password_links, and by portals of the previous build.
  mail_password_link: ['portal'],
  password_link: ['portal'],
  use_password_link: ['portal'],
  change_password: ['portal'],
  change_name: ['portal'],
  add_passkey: ['portal'],
  list_passkeys: ['portal'],
  rename_passkey: ['portal'],
  remove_passkey: ['portal'],
  passkey_by_credential: ['portal'],
  use_passkey: ['portal'],
  take_attempt: ['portal'],
  give_back_attempt: ['portal'],

  // For the organization of the transaction.
  organization_administrators: ['worker', 'portal'],

  // Only for given addresses; no process may read the list.
  suppressed_addresses: ['api', 'worker', 'portal'],
  // The key of a row of the request log determines its organization.
  log_requests: ['api'],
  // Called by processes of the previous build.
  record_requests: ['api'],
  // For the organization's own mails, each with its own rule.
  own_suppressions: ['portal'],
  allow_address: ['portal'],
  retry_own_outbox: ['portal'],
  // Six numbers, for /metrics.
  outbox_backlog: ['api'],

  // For all organizations; only the worker.
  claim_outbox: ['worker'],
  renew_outbox: ['worker'],
  finish_outbox: ['worker'],
  release_outbox: ['worker'],
  suppress_address: ['worker'],
  trim_request_log: ['worker'],
  forget_previous_secrets: ['worker'],
  // Called by claim_outbox, and by workers of the previous build.
  closed_invites: ['worker'],
  due_posts: ['worker'],
  rebuild_hook: ['worker'],
  organizations_without_codes: ['worker'],
  purge_expired: ['worker'],
  purge_portal: ['worker'],
  purge_api_key_handovers: ['worker'],
  expiring_api_keys: ['worker'],

  // For the operator: the command line runs as the owner.
  organization_by_slug: [],
  organization_of_api_key: [],
  list_outbox: [],
  retry_outbox: [],
  unsuppress_address: [],
  list_rebuild_hooks: [],
  wrong_list_counts: [],
  wrong_copies: [],
  correct_copies: [],
  recount_lists: [],
};

/** One right, on the whole table or on some of its columns. */
export interface Right {
  privilege: string;
  columns: string[] | null;
}

/** Parses an entry of {@link TABLE_GRANTS}. */
export function rightsOf(spelled = ''): Right[] {
  return [...spelled.matchAll(/([A-Z]+)(?: \(([^)]+)\))?/g)].map(([, privilege = '', columns]) => ({
    privilege,
    columns: columns ? columns.split(/,\s+/) : null,
  }));
}
