import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

const TABLES = ['portal_sessions', 'sign_in_attempts', 'password_links', 'passkeys'];

const FUNCTIONS = [
  'open_portal_session', 'portal_session', 'list_portal_sessions', 'end_portal_session', 'end_other_portal_sessions',
  'take_attempt', 'forgive_attempts', 'purge_portal', 'add_password_link', 'mail_password_link', 'password_link', 'use_password_link',
  'change_password', 'add_passkey', 'list_passkeys', 'rename_passkey', 'remove_passkey', 'passkey_by_credential',
  'use_passkey',
]; // prettier-ignore

/** Sessions end after this time without use, and in any case after `LIFETIME`. */
const IDLE = `interval '3 days'`;
const LIFETIME = `interval '30 days'`;

const ALIVE = `s.last_seen_at > now() - ${IDLE} AND s.created_at > now() - ${LIFETIME}
          AND s.created_at >= coalesce((SELECT c.sessions_valid_from FROM credentials c WHERE c.user_id = s.user_id), s.created_at)`;

/**
 * Signing in to the portal. These tables belong to people, not to organizations. No process has rights on them, and
 * each function gives access only to what belongs to its caller's secret.
 */
export class Portal1763600000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE TABLE portal_sessions (
        id uuid PRIMARY KEY,
        -- SHA-256 of 256 random bits that only the browser's cookie has.
        secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
        user_id uuid NOT NULL REFERENCES users,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        last_seen_at timestamptz(3) NOT NULL DEFAULT now(),
        -- Shown to the person alone: what the browser calls itself, and the network that it signed in from.
        user_agent text NOT NULL CHECK (length(user_agent) <= 300),
        network text NOT NULL CHECK (length(network) <= 50)
      );
      CREATE INDEX portal_sessions_user ON portal_sessions (user_id);

      -- Attempts by whom or at what they are limited, which is hashed; counted by the minute.
      CREATE TABLE sign_in_attempts (
        subject bytea NOT NULL CHECK (octet_length(subject) = 32),
        minute timestamptz(3) NOT NULL,
        attempts integer NOT NULL,
        PRIMARY KEY (subject, minute)
      );
      CREATE INDEX sign_in_attempts_minute ON sign_in_attempts (minute);

      -- Links that set a password. Whoever opens one reads the mail of the address, or has the operator's word.
      CREATE TABLE password_links (
        secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
        user_id uuid NOT NULL REFERENCES users,
        -- The link dies when the login gets another one.
        email_normalized text NOT NULL,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX password_links_user ON password_links (user_id);
      CREATE INDEX password_links_expires ON password_links (expires_at);

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
    `);
    for (const table of TABLES) {
      await runner.query(/* sql */ `
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});
      `);
    }
    await runner.query(/* sql */ `
      CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text) RETURNS void
        LANGUAGE sql ${AS_MAINTENANCE} AS $$
        INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
        VALUES (session, secret, login, left(agent, 300), left(from_network, 50))
      $$;

      -- Who is signed in, and where they belong; none when the session is over. Being seen is noted once a minute.
      CREATE FUNCTION portal_session(secret bytea) RETURNS TABLE (id uuid, user_id uuid, email text, first_name text,
        last_name text, verified boolean, memberships json) LANGUAGE plpgsql ROWS 1 ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE portal_sessions s SET last_seen_at = now()
          WHERE s.secret_hash = secret AND s.last_seen_at < now() - interval '1 minute' AND ${ALIVE};
        RETURN QUERY SELECT s.id, u.id, u.email, u.first_name, u.last_name, u.email_verified_at IS NOT NULL,
          coalesce((SELECT json_agg(json_build_object('organizationId', o.id, 'slug', o.slug, 'name', o.name,
              'timeZone', o.time_zone, 'role', m.role) ORDER BY o.name, o.id)
            FROM (SELECT organization_id, role FROM members WHERE members.user_id = u.id AND status = 'accepted'
              UNION ALL SELECT organization_id, 'parent' FROM parents p WHERE p.user_id = u.id AND p.status = 'accepted'
                AND NOT EXISTS (SELECT FROM members t WHERE t.organization_id = p.organization_id AND t.user_id = u.id
                  AND t.status = 'accepted')) m
            JOIN organizations o ON o.id = m.organization_id), '[]')
        FROM portal_sessions s JOIN users u ON u.id = s.user_id WHERE s.secret_hash = secret AND ${ALIVE};
      END $$;

      -- The sessions of whoever has this one.
      CREATE FUNCTION list_portal_sessions(secret bytea) RETURNS TABLE (id uuid, created_at timestamptz,
        last_seen_at timestamptz, user_agent text, network text, current boolean) LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT s.id, s.created_at, s.last_seen_at, s.user_agent, s.network, s.secret_hash = secret
        FROM portal_sessions s JOIN portal_sessions mine ON mine.user_id = s.user_id AND mine.secret_hash = secret
        WHERE ${ALIVE} ORDER BY s.secret_hash = secret DESC, s.last_seen_at DESC LIMIT 100
      $$;

      -- Ends one session of whoever has this one: this one itself without an id.
      CREATE FUNCTION end_portal_session(secret bytea, wanted uuid) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM portal_sessions s USING portal_sessions mine
          WHERE mine.secret_hash = secret AND s.user_id = mine.user_id AND s.id = coalesce(wanted, mine.id);
        RETURN FOUND;
      END $$;

      CREATE FUNCTION end_other_portal_sessions(secret bytea) RETURNS integer LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE ended integer;
      BEGIN
        DELETE FROM portal_sessions s USING portal_sessions mine
          WHERE mine.secret_hash = secret AND s.user_id = mine.user_id AND s.id <> mine.id;
        GET DIAGNOSTICS ended = ROW_COUNT;
        RETURN ended;
      END $$;

      -- Counts an attempt, of which there may be so many in a span. Seconds to wait when that is used up, else 0. What is
      -- refused does not count, so that whoever is limited can come back.
      CREATE FUNCTION take_attempt(whose bytea, span interval, most integer) RETURNS integer
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE this_minute timestamptz := date_trunc('minute', now()); taken integer; oldest timestamptz;
      BEGIN
        -- Attempts of one subject take turns at this row.
        INSERT INTO sign_in_attempts AS a VALUES (whose, this_minute, 1)
          ON CONFLICT (subject, minute) DO UPDATE SET attempts = a.attempts + 1;
        SELECT sum(attempts), min(minute) INTO taken, oldest FROM sign_in_attempts
          WHERE subject = whose AND minute > now() - least(span, interval '1 day');
        IF taken <= most THEN
          RETURN 0;
        END IF;
        UPDATE sign_in_attempts SET attempts = attempts - 1 WHERE subject = whose AND minute = this_minute;
        RETURN greatest(1, ceil(extract(epoch FROM oldest + span - now())));
      END $$;

      -- Whoever was right does not owe for earlier mistakes.
      CREATE FUNCTION forgive_attempts(whose bytea) RETURNS void LANGUAGE sql ${AS_MAINTENANCE} AS $$
        DELETE FROM sign_in_attempts WHERE subject = whose
      $$;

      -- The worker's: what is over.
      CREATE FUNCTION purge_portal() RETURNS TABLE (what text, rows bigint)
        LANGUAGE sql ${AS_MAINTENANCE} AS $$
        WITH ended AS (DELETE FROM portal_sessions WHERE ctid = ANY (ARRAY(SELECT ctid FROM portal_sessions
            WHERE last_seen_at <= now() - ${IDLE} OR created_at <= now() - ${LIFETIME}
            LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
          links AS (DELETE FROM password_links WHERE ctid = ANY (ARRAY(SELECT ctid FROM password_links
            WHERE expires_at <= now() LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
          counted AS (DELETE FROM sign_in_attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM sign_in_attempts
            WHERE minute < now() - interval '1 day' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT 'portal_sessions', count(*) FROM ended UNION ALL SELECT 'sign_in_attempts', count(*) FROM counted
        UNION ALL SELECT 'password_links', count(*) FROM links
      $$;

      ${passwords}
      ${takeLogin('DELETE FROM passkeys p WHERE p.user_id = login;')}
      ${forgetAddress('DELETE FROM passkeys p WHERE p.user_id = NEW.id;')}
      ${passkeys}

      REVOKE EXECUTE ON FUNCTION ${FUNCTIONS.join(', ')} FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      ${takeLogin('')}
      ${forgetAddress('')}
      DROP FUNCTION ${FUNCTIONS.join(', ')};
      DROP TABLE ${TABLES.join(', ')};
    `);
  }
}

/** Setting and changing passwords. */
const passwords = /* sql */ `
      CREATE FUNCTION add_password_link(secret bytea, login uuid, life interval) RETURNS void LANGUAGE sql ${AS_MAINTENANCE} AS $$
        INSERT INTO password_links SELECT secret, u.id, u.email_normalized, now() + least(life, interval '14 days')
        FROM users u WHERE u.id = login AND NOT u.placeholder_email
      $$;

      -- The same for the login of an address, and the mail that carries the link. Nothing where there is no such login.
      CREATE FUNCTION mail_password_link(address text, secret bytea, life interval, mail uuid, content bytea) RETURNS void
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login users;
      BEGIN
        SELECT * INTO login FROM users WHERE email_normalized = address AND NOT placeholder_email;
        IF FOUND THEN
          PERFORM add_password_link(secret, login.id, life);
          INSERT INTO outbox (id, topic, kind, recipient, payload) VALUES (mail, 'email', 'password_reset', login.email, content);
          PERFORM pg_notify('outbox', 'email');
        END IF;
      END $$;

      -- Whose password the link sets. Looking changes nothing: mail scanners open links.
      CREATE FUNCTION password_link(secret bytea) RETURNS TABLE (user_id uuid, email text) LANGUAGE sql STABLE ROWS 1
        ${AS_MAINTENANCE} AS $$
        SELECT u.id, u.email FROM password_links l JOIN users u ON u.id = l.user_id
          AND u.email_normalized = l.email_normalized
        WHERE l.secret_hash = secret AND l.expires_at > now()
      $$;

      -- Sets the password, once, and proves the address. Whoever was signed in is not any more. Where somebody unknown has
      -- used the login before its address was proven, their passkeys go, and what they accepted waits for the person; a login
      -- that nobody has used keeps what the operator gave it.
      CREATE FUNCTION use_password_link(secret bytea, hash text) RETURNS uuid LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login users; taken_over boolean;
      BEGIN
        SELECT u.* INTO login FROM password_links l JOIN users u ON u.id = l.user_id
          AND u.email_normalized = l.email_normalized
          WHERE l.secret_hash = secret AND l.expires_at > now() FOR NO KEY UPDATE OF u;
        -- Of two at once the later one waits for the login, and finds the link gone.
        DELETE FROM password_links l WHERE l.secret_hash = secret;
        IF login.id IS NULL OR NOT FOUND THEN
          RETURN NULL;
        END IF;
        taken_over := login.email_verified_at IS NULL
          AND EXISTS (SELECT FROM credentials c WHERE c.user_id = login.id
            UNION ALL SELECT FROM passkeys p WHERE p.user_id = login.id);
        PERFORM take_login(login.id, login.email_normalized, hash, NOT taken_over);
        IF NOT taken_over THEN
          INSERT INTO credentials (user_id, password_hash) VALUES (login.id, hash)
            ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
        END IF;
        DELETE FROM password_links l WHERE l.user_id = login.id;
        DELETE FROM portal_sessions s WHERE s.user_id = login.id;
        RETURN login.id;
      END $$;

      -- For whoever is signed in and has shown the former password. All sessions end, this one too.
      CREATE FUNCTION change_password(secret bytea, hash text) RETURNS uuid LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login uuid;
      BEGIN
        SELECT s.user_id INTO login FROM portal_sessions s WHERE s.secret_hash = secret AND ${ALIVE};
        IF login IS NOT NULL THEN
          INSERT INTO credentials (user_id, password_hash) VALUES (login, hash)
            ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
          DELETE FROM password_links l WHERE l.user_id = login;
          DELETE FROM portal_sessions s WHERE s.user_id = login;
        END IF;
        RETURN login;
      END $$;
`;

/** Passkeys: people manage their own while signed in. Sign-in finds a passkey by the id that the browser sends. */
const passkeys = /* sql */ `
      CREATE FUNCTION add_passkey(secret bytea, passkey uuid, credential bytea, key bytea, counter bigint, kinds text[],
        called text) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
          SELECT passkey, s.user_id, credential, key, counter, kinds, called FROM portal_sessions s
          WHERE s.secret_hash = secret AND (SELECT count(*) FROM passkeys p WHERE p.user_id = s.user_id) < 20
          ON CONFLICT DO NOTHING;
        RETURN FOUND;
      END $$;

      CREATE FUNCTION list_passkeys(secret bytea) RETURNS TABLE (id uuid, credential_id bytea, name text,
        created_at timestamptz, last_used_at timestamptz) LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT p.id, p.credential_id, p.name, p.created_at, p.last_used_at FROM passkeys p
        JOIN portal_sessions s ON s.user_id = p.user_id AND s.secret_hash = secret ORDER BY p.created_at, p.id
      $$;

      CREATE FUNCTION rename_passkey(secret bytea, passkey uuid, called text) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE passkeys p SET name = called FROM portal_sessions s
          WHERE s.secret_hash = secret AND p.user_id = s.user_id AND p.id = passkey;
        RETURN FOUND;
      END $$;

      CREATE FUNCTION remove_passkey(secret bytea, passkey uuid) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM passkeys p USING portal_sessions s
          WHERE s.secret_hash = secret AND p.user_id = s.user_id AND p.id = passkey;
        RETURN FOUND;
      END $$;

      CREATE FUNCTION passkey_by_credential(credential bytea) RETURNS TABLE (id uuid, user_id uuid, public_key bytea,
        sign_count bigint, transports text[]) LANGUAGE sql STABLE ROWS 1 ${AS_MAINTENANCE} AS $$
        SELECT p.id, p.user_id, p.public_key, p.sign_count, p.transports FROM passkeys p WHERE p.credential_id = credential
      $$;

      -- Notes the use. False when another use with this count came first.
      CREATE FUNCTION use_passkey(passkey uuid, counter bigint) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE passkeys p SET last_used_at = now(), sign_count = counter
          WHERE p.id = passkey AND (p.sign_count < counter OR (p.sign_count = 0 AND counter = 0));
        RETURN FOUND;
      END $$;
`;

/**
 * As in Identity1763600000009, but also removes the passkeys of whoever used the login before its address was verified.
 */
function takeLogin(more: string): string {
  const waiting = ['members', 'parents'].map(
    (table) => `
        UPDATE ${table} t SET status = CASE t.status WHEN 'accepted' THEN 'pending' ELSE t.status END, accepted_at = NULL,
          supplied_first_name = u.first_name, supplied_last_name = u.last_name, supplied_email = u.email,
          supplied_phone = u.phone${table === 'members' ? ', approval_requested_at = NULL' : ''}
        FROM users u WHERE u.id = login AND t.user_id = u.id AND t.accepted_at IS NOT NULL
          AND t.organization_id IS DISTINCT FROM current_organization_id();`,
  );
  return /* sql */ `
      CREATE OR REPLACE FUNCTION take_login(login uuid, address text, hash text, same_person boolean) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE users SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = login AND email_normalized = address;
        IF NOT FOUND OR same_person THEN
          RETURN FOUND;
        END IF;
        INSERT INTO credentials (user_id, password_hash) VALUES (login, hash)
          ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
        ${waiting.join('')}
        UPDATE members SET approval_requested_at = NULL WHERE user_id = login AND approval_requested_at IS NOT NULL
          AND organization_id IS DISTINCT FROM current_organization_id();
        ${more}
        RETURN true;
      END $$;`;
}

/** As in Identity1763600000009, with the same addition. */
function forgetAddress(more: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION forget_address() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE credentials SET password_hash = NULL, sessions_valid_from = now() WHERE user_id = NEW.id;
        UPDATE invites SET revoked_at = now() WHERE user_id = NEW.id AND accepted_at IS NULL AND revoked_at IS NULL;
        ${more}
        RETURN NULL;
      END $$;`;
}
