import type { Grants } from './grants.js';

const SELLER = `legal_name, business_number_label, business_number, payment_instructions, pay_url, tax_registered, tax_label, tax_rate`;

const LOGIN_COLUMNS = 'email, email_normalized, placeholder_email, first_name, last_name, phone';

/** Organizations, logins, API keys and the records of requests. */
export const account: Grants = {
  tables: {
    organizations: {
      api: 'SELECT, UPDATE (name, time_zone, currency, payment_terms_days, updated_at)',
      // What it says in mails to families, and on the papers with them.
      worker: `SELECT (id, name, slug, time_zone, currency, postal_address, phone, ${SELLER}, reply_address)`,
      portal: `SELECT, UPDATE (name, time_zone, currency, app_url, postal_address, phone, privacy_url, updated_at, payment_terms_days, ${SELLER}, line_tax, reply_address, shares_learning, cancellation_policy)`,
    },
    logos: { api: 'SELECT', worker: 'SELECT', portal: 'SELECT, INSERT, UPDATE (in_use), DELETE' },
    // What an organization supplies. No process may write whether an address is proven or who sees a login, or delete one.
    users: {
      api: `SELECT (id, ${LOGIN_COLUMNS}, phone_digits, created_at, updated_at), INSERT (id, ${LOGIN_COLUMNS}),
        UPDATE (${LOGIN_COLUMNS}, updated_at)`,
      // Whom a mail to a family reaches, and by what name. Row-level security shows those who have accepted.
      worker: 'SELECT (id, email, placeholder_email, first_name, last_name)',
      portal: `SELECT (id, ${LOGIN_COLUMNS}, created_at, updated_at, email_verified_at), INSERT (id, ${LOGIN_COLUMNS}),
        UPDATE (${LOGIN_COLUMNS}, updated_at)`,
    },
    // Keys are looked up by hash (api_key_by_hash). No process may extend the rights of one.
    api_keys: {
      api: `SELECT (id, organization_id, name, last_used_at, created_by, revoked_at, expires_at), UPDATE (last_used_at, revoked_at)`,
      worker: `SELECT (id, organization_id, name, first_four, last_four, expires_at, revoked_at, last_used_at,
        expiry_warned_days), UPDATE (expiry_warned_days)`,
      portal: `SELECT (id, organization_id, name, first_four, last_four, scopes, platform_blog, created_by, created_at,
        expires_at, revoked_at, last_used_at, replaced_by, form_token), INSERT (id, organization_id, name, key_hash,
        first_four, last_four, scopes, created_by, expires_at, form_token), UPDATE (expires_at, revoked_at, replaced_by,
        replaced_at)`,
    },
    api_key_handovers: {
      portal:
        'SELECT (api_key_id, organization_id, sealed, expires_at), INSERT (api_key_id, organization_id, sealed), DELETE',
    },
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE',
      portal: 'INSERT (organization_id, operation, key, request_hash, expires_at)',
    },
    // Append-only.
    audit_log: { api: 'INSERT', worker: 'INSERT', portal: 'SELECT, INSERT' },
    // Counts only grow.
    refusals: { api: 'SELECT, INSERT, UPDATE (count)', portal: 'SELECT' },
    // Written only by log_requests.
    request_log: { api: 'SELECT', portal: 'SELECT' },
    migrations: { api: 'SELECT', worker: 'SELECT', portal: 'SELECT' },
  },
  functions: {
    // Called by row-level security.
    current_organization_id: ['api', 'worker', 'portal'],
    // Called by other functions, as the owner.
    lock_people: [],
    audit_login: [],
    // Before an organization is known.
    api_key_by_hash: ['api'],
    // For the organization of the transaction.
    organization_administrators: ['api', 'worker', 'portal'],
    contact_of: ['portal'],
    reads_mail: ['api', 'worker', 'portal'],
    // The key of a row of the request log determines its organization.
    log_requests: ['api'],
    expiring_api_keys: ['worker'],
    purge_api_key_handovers: ['worker'],
    trim_request_log: ['worker'],
    // For the operator: the command line runs as the owner.
    organization_by_slug: [],
    organization_of_api_key: [],
  },
};
