import { digitsOf } from '../folding.js';
import { emits, partOf } from './emits.js';
import { ownerOnly, rule, secure } from './rules.js';

/** The scalar subquery is evaluated once for each statement; a bare call would be evaluated for each row. */
const SEEN = '(SELECT current_organization_id()) = ANY (seen_by)';

/** A uuid that a row's details name under one of these names. */
const PERSON_IN_DETAILS = `(substring(coalesce(details ->> 'user_id', details ->> 'parent_id', details ->> 'tutor_id',
      details ->> 'student_id') FROM '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$'))::uuid`;

/** Where a login itself is shown. */
const SHOWN = 'p.user_id = c.id AND p.accepted_at IS NOT NULL';

const NAMES = {
  ...{ first_name: ['first_name'], last_name: ['last_name'] },
  ...{ email: ['email'], placeholder_email: ['email', 'placeholder_email'] },
};

/** Organizations, logins and API keys, and what is kept of requests. */
export const account = /* sql */ `
  -- Not in "public", where "migrate" takes all rights on functions from everybody. Lists order by its distance: see inRange().
  CREATE SCHEMA IF NOT EXISTS extensions;
  CREATE EXTENSION IF NOT EXISTS btree_gist SCHEMA extensions;
  GRANT USAGE ON SCHEMA extensions TO PUBLIC;

  -- app_url, postal_address, phone, privacy_url: what people who are invited, and those who belong, are shown of it.
  -- What invoices print, besides the two of these: legal_name, else the name; business_number, under its label; how to pay.
  -- reply_address: where families answer the mails of the organization. shares_learning: whether parents and students are shown
  -- homework and results on their pages. cancellation_policy: what whoever cannot come is told there.
  -- tax_rate: hundredths of a percent, which prices include. line_tax: of lines whose subject does not say, nor whoever wrote them.
  CREATE TABLE organizations (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(slug) <= 100),
    time_zone text NOT NULL DEFAULT 'Australia/Melbourne',
    currency text NOT NULL DEFAULT 'AUD' CHECK (currency ~ '^[A-Z]{3}$'),
    app_url text CHECK (app_url ~ '^https://' AND char_length(app_url) <= 500),
    postal_address text CHECK (char_length(postal_address) <= 300),
    phone text CHECK (char_length(phone) <= 50),
    privacy_url text CHECK (privacy_url ~ '^https://' AND char_length(privacy_url) <= 500),
    payment_terms_days integer NOT NULL DEFAULT 14 CHECK (payment_terms_days BETWEEN 0 AND 365),
    legal_name text CHECK (char_length(legal_name) BETWEEN 1 AND 200),
    business_number_label text CHECK (char_length(business_number_label) BETWEEN 1 AND 20),
    business_number text CHECK (char_length(business_number) BETWEEN 1 AND 50),
    payment_instructions text CHECK (char_length(payment_instructions) BETWEEN 1 AND 500),
    pay_url text CHECK (pay_url ~ '^https://' AND char_length(pay_url) <= 500),
    reply_address text CHECK (char_length(reply_address) <= 254),
    tax_registered boolean NOT NULL DEFAULT false,
    tax_label text NOT NULL DEFAULT 'GST' CHECK (char_length(tax_label) BETWEEN 1 AND 20),
    tax_rate integer NOT NULL DEFAULT 1000 CHECK (tax_rate BETWEEN 0 AND 10000),
    line_tax text NOT NULL DEFAULT 'taxable' CHECK (line_tax IN ('taxable', 'free')),
    shares_learning boolean NOT NULL DEFAULT false,
    cancellation_policy text CHECK (char_length(cancellation_policy) BETWEEN 1 AND 1000),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  );
  ${rule('organizations', 'seller', 'NOT tax_registered OR business_number IS NOT NULL', 'business_number', 'must not be null if tax_registered is true')}
  ${emits('organizations', { resource: 'org', noun: 'the organization', list: null, path: '/v1/org', organization: 'id', plain: ['updated'], never: ['updated_at', 'audit_days', 'shares_learning', 'cancellation_policy'] })}
  ${secure('organizations', 'id = current_organization_id()')}

  -- The pictures that papers begin with, by content (SHA-256). in_use: of one at most; null of those that are there because issued invoices name them.
  -- png: in base64.
  CREATE TABLE logos (
    organization_id uuid NOT NULL REFERENCES organizations,
    digest text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
    png text NOT NULL CHECK (char_length(png) BETWEEN 1 AND 120000),
    in_use boolean CHECK (in_use),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, digest),
    UNIQUE (organization_id, in_use)
  );
  ${secure('logos')}

  -- One login across the platform. email_normalized is compared with "=": lower() is not leakproof and would lose its
  -- index under row-level security. seen_by: the organizations in which the person has accepted. Only the owner may read
  -- it, because it tells who else knows them.
  CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL CHECK (char_length(email) <= 254),
    email_normalized text NOT NULL UNIQUE CHECK (char_length(email_normalized) <= 254),
    placeholder_email boolean NOT NULL DEFAULT false,
    first_name text NOT NULL CHECK (char_length(first_name) BETWEEN 1 AND 200),
    last_name text NOT NULL CHECK (char_length(last_name) BETWEEN 1 AND 200),
    phone text CHECK (char_length(phone) <= 50),
    phone_digits text GENERATED ALWAYS AS (${digitsOf('phone')}) STORED,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    email_verified_at timestamptz(3),
    seen_by uuid[] NOT NULL DEFAULT '{}'
  );
  CREATE INDEX users_phone ON users (phone_digits) WHERE phone_digits IS NOT NULL;
  ${partOf('users', { onlyUpdates: true, of: 'members', resource: 'student', on: SHOWN, fields: NAMES })}
  ${partOf('users', { onlyUpdates: true, of: 'members', resource: 'tutor', on: SHOWN, fields: { ...NAMES, first_name: ['first_name', 'full_name'], last_name: ['last_name', 'full_name'] } })}
  ${partOf('users', { onlyUpdates: true, of: 'parents', resource: 'parent', on: SHOWN, fields: NAMES })}
  ${partOf('users', { onlyUpdates: true, of: 'session_feedback', resource: 'session_feedback', on: 'p.reviewer_id = c.id AND p.organization_id = ANY (c.seen_by)', fields: { first_name: ['reviewer_name'], last_name: ['reviewer_name'] } })}
  ${ownerOnly('users')}
  CREATE POLICY tenant ON users FOR SELECT USING (${SEEN});
  CREATE POLICY tenant_adds ON users FOR INSERT WITH CHECK (current_organization_id() IS NOT NULL);
  CREATE POLICY tenant_changes ON users FOR UPDATE USING (${SEEN} AND NOT kept_elsewhere(id, false));
  CREATE TRIGGER guard_address BEFORE UPDATE ON users FOR EACH ROW
    WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION guard_address();
  CREATE TRIGGER forget_address AFTER UPDATE ON users FOR EACH ROW
    WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION forget_address();
  -- A login that only a passkey opens has no credentials, whose trigger would do.
  CREATE TRIGGER end_sessions AFTER UPDATE ON users FOR EACH ROW
    WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION end_sessions();
  CREATE TRIGGER await_consent AFTER UPDATE ON users FOR EACH ROW
    WHEN (OLD.email_verified_at IS NULL AND NEW.email_verified_at IS NOT NULL) EXECUTE FUNCTION await_consent();

  CREATE TRIGGER keep_login BEFORE UPDATE ON users FOR EACH ROW
    WHEN ((OLD.email, OLD.first_name, OLD.last_name, OLD.phone, OLD.email_verified_at) IS DISTINCT FROM
      (NEW.email, NEW.first_name, NEW.last_name, NEW.phone, NEW.email_verified_at)) EXECUTE FUNCTION keep_login('id');

  -- form_token: of the form that asked for the key; sent twice, it makes one. replaced_at: when its expiry was brought
  -- forward for the key that takes over. expiry_warned_days: of the warnings before it expires, the last one mailed.
  CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
    first_four text NOT NULL CHECK (first_four ~ '^[0-9a-f]{4}$'),
    last_four text NOT NULL CHECK (last_four ~ '^[0-9a-f]{4}$'),
    scopes text[] NOT NULL DEFAULT '{read}',
    platform_blog boolean NOT NULL DEFAULT false,
    created_by uuid REFERENCES users,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    last_used_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    form_token uuid,
    replaced_by uuid,
    replaced_at timestamptz(3),
    expiry_warned_days integer CHECK (expiry_warned_days IN (3, 14)),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, form_token),
    FOREIGN KEY (organization_id, replaced_by) REFERENCES api_keys (organization_id, id),
    CHECK (scopes <@ ARRAY['read', 'write', 'payments:write', 'tutors:write', 'payroll:write', 'coursework:write',
      'sessions:write', 'messages:write', 'accounts:write', 'students:write', 'settings:write', 'blog:write',
      'leads:write', 'webhooks:write', 'exports:write', 'erasure:write'] AND cardinality(scopes) > 0),
    CHECK ((replaced_by IS NULL) = (replaced_at IS NULL))
  );
  CREATE INDEX api_keys_organization ON api_keys (organization_id, created_at);
  CREATE INDEX api_keys_expiry ON api_keys (expires_at) WHERE revoked_at IS NULL;
  CREATE TRIGGER keep_api_key BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION keep_api_key();
  ${secure('api_keys')}

  -- A new key on its way to the page that shows it once, sealed with the session of the browser that asked for it.
  -- UNLOGGED: it reaches no write-ahead log, so no replica and no backup of the files.
  CREATE UNLOGGED TABLE api_key_handovers (
    api_key_id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    sealed bytea NOT NULL,
    expires_at timestamptz(3) NOT NULL DEFAULT now() + interval '5 minutes',
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
  );
  ${secure('api_key_handovers')}

  -- The answer to the first request with a key, in the transaction of its effect. answer is null only inside that
  -- transaction, and for forms of the portal, whose key is the token in the form.
  CREATE TABLE idempotency_keys (
    organization_id uuid NOT NULL REFERENCES organizations,
    operation text NOT NULL,
    key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
    request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
    status integer,
    answer bytea,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    PRIMARY KEY (organization_id, operation, key)
  );
  CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
  ${secure('idempotency_keys')}

  -- One row for each write, refused ones too, and for what managers do with their own accounts. user_id: the person behind
  -- a change that no API key made. person_id: whom it is about; without a foreign key, since details may name anybody.
  -- network: where a manager or a key's program was; of other people it is not recorded. Of refused writes
  -- of keys, only the first of each (key, operation, status, hour) has a row: see refusals.
  CREATE TABLE audit_log (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    api_key_id uuid,
    operation text NOT NULL,
    request_id text NOT NULL,
    status integer NOT NULL,
    result text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    user_id uuid REFERENCES users,
    network text CHECK (length(network) <= 50),
    person_id uuid GENERATED ALWAYS AS (${PERSON_IN_DETAILS}) STORED,
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id)
  );
  CREATE INDEX audit_log_organization ON audit_log (organization_id, created_at, id);
  CREATE INDEX audit_log_user ON audit_log (organization_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
  CREATE INDEX audit_log_person ON audit_log (organization_id, person_id, created_at, id) WHERE person_id IS NOT NULL;
  CREATE INDEX audit_log_key ON audit_log (organization_id, api_key_id, created_at, id) WHERE api_key_id IS NOT NULL;
  CREATE INDEX audit_log_invoice ON audit_log (organization_id, (details ->> 'invoice_id'), created_at, id)
    WHERE details ->> 'invoice_id' IS NOT NULL;
  -- For what is deleted by age.
  CREATE INDEX audit_log_age ON audit_log (created_at);
  CREATE INDEX audit_log_sign_ins ON audit_log (created_at) WHERE operation = 'sign in';
  CREATE INDEX audit_log_refused ON audit_log (created_at) WHERE status >= 400;
  CREATE INDEX audit_log_networks ON audit_log (created_at) WHERE network IS NOT NULL;
  ${secure('audit_log')}

  -- How often writes of keys were refused, by the minute: a client that repeats a refused request must not fill the disk.
  CREATE TABLE refusals (
    organization_id uuid NOT NULL REFERENCES organizations,
    api_key_id uuid NOT NULL,
    operation text NOT NULL,
    status integer NOT NULL,
    minute timestamptz(3) NOT NULL,
    count integer NOT NULL DEFAULT 1,
    PRIMARY KEY (organization_id, api_key_id, operation, status, minute),
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id)
  );
  CREATE INDEX refusals_minute ON refusals (minute);
  ${secure('refusals')}

  -- Requests of the last days, written in batches (log_requests) and trimmed (trim_request_log). One index serves the
  -- list, all its filters and the trimming: a second one would double what a row costs. Without foreign keys for the same
  -- reason: log_requests takes the organization from the key. The lengths bound a row to 600 bytes, index included.
  CREATE TABLE request_log (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    method text NOT NULL CHECK (octet_length(method) <= 16),
    route text CHECK (octet_length(route) <= 128),
    status integer NOT NULL,
    duration_ms double precision NOT NULL,
    request_id text NOT NULL CHECK (octet_length(request_id) <= 128),
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (organization_id, created_at, id) INCLUDE (api_key_id, route, method, status)
  );
  ${secure('request_log')}
`;
