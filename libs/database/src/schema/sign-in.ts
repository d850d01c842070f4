import { ownerOnly } from './rules.js';

/**
 * Signing in to the portal. These tables belong to people, not to organizations. No process has rights on them, and each
 * function gives access only to what belongs to its caller's secret.
 */
export const signIn = /* sql */ `
  -- A session that is older than sessions_valid_from is over.
  CREATE TABLE credentials (
    user_id uuid PRIMARY KEY REFERENCES users,
    password_hash text,
    sessions_valid_from timestamptz(3) NOT NULL DEFAULT now()
  );
  ${ownerOnly('credentials')}
  CREATE TRIGGER hold_login BEFORE INSERT ON credentials FOR EACH ROW EXECUTE FUNCTION hold_login();
  CREATE TRIGGER keep_login BEFORE INSERT OR UPDATE OR DELETE ON credentials FOR EACH ROW EXECUTE FUNCTION keep_login('user_id');
  CREATE TRIGGER end_sessions AFTER INSERT OR UPDATE ON credentials FOR EACH ROW EXECUTE FUNCTION end_sessions();
  CREATE TRIGGER audit_first_password AFTER INSERT ON credentials FOR EACH ROW WHEN (NEW.password_hash IS NOT NULL)
    EXECUTE FUNCTION audit_credential('set password');
  CREATE TRIGGER audit_password AFTER UPDATE ON credentials FOR EACH ROW WHEN (NEW.password_hash <> OLD.password_hash
    OR NEW.password_hash IS NOT NULL AND OLD.password_hash IS NULL) EXECUTE FUNCTION audit_credential('set password');

  -- secret_hash: SHA-256 of 256 random bits that only the browser's cookie has. user_agent and network are shown to the
  -- person alone: what the browser calls itself, and where it signed in from. confirmed_at: when the person last showed a
  -- password or passkey in this session, by signing in or afterwards.
  CREATE TABLE portal_sessions (
    id uuid PRIMARY KEY,
    secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    user_id uuid NOT NULL REFERENCES users,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    last_seen_at timestamptz(3) NOT NULL DEFAULT now(),
    confirmed_at timestamptz(3),
    user_agent text NOT NULL CHECK (length(user_agent) <= 300),
    network text NOT NULL CHECK (length(network) <= 50)
  );
  CREATE INDEX portal_sessions_user ON portal_sessions (user_id);
  ${ownerOnly('portal_sessions')}

  -- The logins that somebody has signed in to since their credentials changed. Device cookies issued before are void.
  CREATE TABLE device_cookies (
    user_id uuid PRIMARY KEY REFERENCES users,
    valid_from timestamptz(3) NOT NULL DEFAULT now()
  );
  ${ownerOnly('device_cookies')}

  -- Attempts by whom or at what they are limited, which is hashed; counted by the minute.
  CREATE TABLE sign_in_attempts (
    subject bytea NOT NULL CHECK (octet_length(subject) = 32),
    minute timestamptz(3) NOT NULL,
    attempts integer NOT NULL,
    PRIMARY KEY (subject, minute)
  );
  CREATE INDEX sign_in_attempts_minute ON sign_in_attempts (minute);
  ${ownerOnly('sign_in_attempts')}

  -- Links that set a password. Whoever opens one reads the mail of the address, or has the operator's word. The link dies
  -- when the login gets another address than email_normalized.
  CREATE TABLE password_links (
    secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
    user_id uuid NOT NULL REFERENCES users,
    email_normalized text NOT NULL,
    expires_at timestamptz(3) NOT NULL
  );
  CREATE INDEX password_links_user ON password_links (user_id);
  CREATE INDEX password_links_expires ON password_links (expires_at);
  ${ownerOnly('password_links')}

  -- Requests for such a link by mail. The portal records the address that was entered, without looking it up, before it
  -- answers: known and unknown addresses take the same work, and a crash loses no request. The worker looks the address up
  -- a moment later, and deletes the row. id becomes that of the mail, and kind is its kind: a confirmation is only for a
  -- login whose address is not proven, and a warning of wrong passwords has no link of its own. expires_at is that of the
  -- link.
  CREATE TABLE password_link_requests (
    id uuid PRIMARY KEY,
    email_normalized text NOT NULL CHECK (length(email_normalized) <= 320),
    secret_hash bytea CHECK (octet_length(secret_hash) = 32),
    content bytea NOT NULL CHECK (octet_length(content) <= 10000),
    requested_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    kind text NOT NULL CHECK (kind IN ('password_reset', 'address_confirmation', 'wrong_passwords'))
  );
  CREATE INDEX password_link_requests_age ON password_link_requests (requested_at, id);
  ${ownerOnly('password_link_requests')}

  CREATE TABLE passkeys (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users,
    credential_id bytea NOT NULL UNIQUE CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    public_key bytea NOT NULL CHECK (octet_length(public_key) <= 4096),
    sign_count bigint NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
    transports text[] NOT NULL DEFAULT '{}',
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at timestamptz(3)
  );
  CREATE INDEX passkeys_user ON passkeys (user_id);
  CREATE TRIGGER audit_added AFTER INSERT ON passkeys FOR EACH ROW EXECUTE FUNCTION audit_credential('add passkey');
  CREATE TRIGGER audit_removed AFTER DELETE ON passkeys FOR EACH ROW EXECUTE FUNCTION audit_credential('remove passkey');
  ${ownerOnly('passkeys')}
`;
