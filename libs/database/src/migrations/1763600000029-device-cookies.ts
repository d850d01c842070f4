import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

const CHANGED = ['open_portal_session', 'end_other_portal_sessions', 'request_password_link'];

/**
 * Strangers who guess cannot lock anybody out: a browser that has signed in before has a device cookie, and its
 * attempts are counted apart. People are mailed about guesses and about new browsers.
 */
export class DeviceCookies1763600000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- The logins that somebody has signed in to since their credentials changed. Device cookies issued before are void.
      CREATE TABLE device_cookies (
        user_id uuid PRIMARY KEY REFERENCES users,
        valid_from timestamptz(3) NOT NULL DEFAULT now()
      );
      ALTER TABLE device_cookies ENABLE ROW LEVEL SECURITY;
      ALTER TABLE device_cookies FORCE ROW LEVEL SECURITY;
      CREATE POLICY upkeep ON device_cookies TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});

      CREATE FUNCTION is_known_browser(login uuid, issued timestamptz) RETURNS boolean LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT EXISTS (SELECT FROM device_cookies d WHERE d.user_id = login AND d.valid_from <= issued
          AND issued > now() - interval '1 year')
      $$;

      DROP FUNCTION ${CHANGED.join(', ')}, forgive_attempts;
      ${endSessions(`
        DELETE FROM device_cookies WHERE user_id = login;`)}
      -- None when the password or passkey that was shown does not open the login any more. A browser is new if it has no valid
      -- device cookie although somebody has signed in to the login before.
      CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text,
        password text, passkey bytea, device_cookie timestamptz) RETURNS TABLE (address text, issued_at timestamptz,
        new_browser boolean) LANGUAGE plpgsql ROWS 1 ${AS_MAINTENANCE} AS $$
      BEGIN
        ${openSession}
        IF NOT FOUND THEN
          RETURN;
        END IF;
        new_browser := NOT is_known_browser(login, device_cookie);
        INSERT INTO device_cookies (user_id) VALUES (login) ON CONFLICT DO NOTHING;
        RETURN QUERY SELECT u.email_normalized, now()::timestamptz(3), new_browser AND NOT FOUND FROM users u WHERE u.id = login;
      END $$;
      -- The device cookies of the others are void too. This browser gets one of the returned time.
      CREATE FUNCTION end_other_portal_sessions(secret bytea) RETURNS TABLE (ended integer, issued_at timestamptz)
        LANGUAGE plpgsql ROWS 1 ${AS_MAINTENANCE} AS $$
      BEGIN
        ${endOthers}
        issued_at := now()::timestamptz(3);
        UPDATE device_cookies d SET valid_from = now() FROM portal_sessions mine
          WHERE mine.secret_hash = secret AND d.user_id = mine.user_id;
        RETURN NEXT;
      END $$;

      -- kind: of the mail. A warning of wrong passwords has no link of its own.
      ALTER TABLE password_link_requests ADD COLUMN kind text NOT NULL DEFAULT 'password_reset'
        CHECK (kind IN ('password_reset', 'address_confirmation', 'wrong_passwords')), ALTER COLUMN secret_hash DROP NOT NULL;
      ALTER TABLE password_link_requests ALTER COLUMN kind DROP DEFAULT, DROP COLUMN confirms;
      ${requestLink('kind text', 'kind')}
      ${resolveLinks(
        `
          IF request.kind = 'wrong_passwords' THEN
            PERFORM mail_credential_notice(u.id, request.kind, request.id, request.content)
              FROM users u JOIN credentials c ON c.user_id = u.id
              WHERE u.email_normalized = request.email_normalized AND c.password_hash IS NOT NULL;
          ELSIF`,
        `request.kind = 'address_confirmation'`,
      )}
      ${mailNotice(`'password_changed', 'passkey_added', 'passkey_removed', 'new_browser_sign_in', 'wrong_passwords'`)}
      REVOKE EXECUTE ON FUNCTION ${[...CHANGED, 'is_known_browser'].join(', ')} FROM PUBLIC;
    `);
    // Codes have two more characters from now on. The worker makes the standing ones anew.
    await runner.query(`SELECT set_config('app.maintenance', 'on', true)`);
    await runner.query(/* sql */ `
      UPDATE invites SET revoked_at = now() WHERE revoked_at IS NULL AND accepted_at IS NULL
        AND (scope IN ('classroom', 'group', 'parent') OR (scope = 'organization' AND email IS NULL))`);
    await runner.query(`SELECT set_config('app.maintenance', 'off', true)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION ${CHANGED.join(', ')}, is_known_browser;
      ${endSessions('')}
      DROP TABLE device_cookies;
      CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text,
        password text, passkey bytea) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        ${openSession}
        RETURN FOUND;
      END $$;
      CREATE FUNCTION end_other_portal_sessions(secret bytea) RETURNS integer LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE ended integer;
      BEGIN
        ${endOthers}
        RETURN ended;
      END $$;
      CREATE FUNCTION forgive_attempts(whose bytea) RETURNS void LANGUAGE sql ${AS_MAINTENANCE} AS $$
        DELETE FROM sign_in_attempts WHERE subject = whose
      $$;
      ALTER TABLE password_link_requests ADD COLUMN confirms boolean NOT NULL DEFAULT false;
    `);
    await runner.query(`SELECT set_config('app.maintenance', 'on', true)`);
    await runner.query(/* sql */ `
      DELETE FROM password_link_requests WHERE kind = 'wrong_passwords';
      UPDATE password_link_requests SET confirms = kind = 'address_confirmation'`);
    await runner.query(`SELECT set_config('app.maintenance', 'off', true)`);
    await runner.query(/* sql */ `
      ALTER TABLE password_link_requests DROP COLUMN kind, ALTER COLUMN secret_hash SET NOT NULL,
        ALTER COLUMN confirms DROP DEFAULT;
      ${requestLink('confirms boolean', 'confirms')}
      ${resolveLinks('IF', 'request.confirms')}
      ${mailNotice(`'password_changed', 'passkey_added', 'passkey_removed'`)}
      REVOKE EXECUTE ON FUNCTION ${[...CHANGED, 'forgive_attempts'].join(', ')} FROM PUBLIC;
    `);
  }
}

const openSession = /* sql */ `PERFORM lock_people(ARRAY[login]);
        INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
        SELECT session, secret, login, left(agent, 300), left(from_network, 50)
        WHERE EXISTS (SELECT FROM credentials c WHERE c.user_id = login AND c.password_hash = password)
          OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = login AND p.credential_id = passkey);`;

const endOthers = /* sql */ `DELETE FROM portal_sessions s USING portal_sessions mine
          WHERE mine.secret_hash = secret AND s.user_id = mine.user_id AND s.id <> mine.id;
        GET DIAGNOSTICS ended = ROW_COUNT;`;

/** What ends with the credentials or the address of a login. */
function endSessions(more: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login uuid := CASE TG_TABLE_NAME
          WHEN 'users' THEN (to_jsonb(NEW) ->> 'id')::uuid ELSE (to_jsonb(NEW) ->> 'user_id')::uuid END;
      BEGIN
        DELETE FROM portal_sessions WHERE user_id = login;${more}
        RETURN NULL;
      END $$;`;
}

/** As in PasswordLinkRequests1763600000025, with another last parameter. */
function requestLink(parameter: string, column: string): string {
  return /* sql */ `
      CREATE FUNCTION request_password_link(mail uuid, address text, secret bytea, life interval, content bytea,
        ${parameter}) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
          WHERE o.requested_at <= now() - interval '1 hour' LIMIT 100 FOR UPDATE SKIP LOCKED));
        INSERT INTO password_link_requests (id, email_normalized, ${column}, secret_hash, content, expires_at)
          VALUES (mail, address, ${column}, secret, content, now() + life);
        PERFORM pg_notify('outbox', 'passwordLinks');
      END $$;`;
}

/** As in PasswordLinkRequests1763600000025, with another kind of mail. */
function resolveLinks(otherwise: string, confirms: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION resolve_password_links() RETURNS integer LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE request password_link_requests; resolved integer := 0;
      BEGIN
        FOR request IN DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
          ORDER BY o.requested_at, o.id LIMIT 100 FOR UPDATE SKIP LOCKED)) RETURNING r.* LOOP
          resolved := resolved + 1;
          ${otherwise} request.expires_at > now() AND request.requested_at > now() - interval '1 hour' THEN
            PERFORM mail_password_link(request.email_normalized, request.secret_hash,
              request.expires_at - now(), request.id, request.content, ${confirms});
          END IF;
        END LOOP;
        RETURN resolved;
      END $$;`;
}

/** As in AccountMails1763600000021, for these kinds. */
function mailNotice(kinds: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION mail_credential_notice(login uuid, what text, mail uuid, content bytea) RETURNS void
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO outbox (id, topic, kind, recipient, email_normalized, payload)
          SELECT mail, 'email', what, u.email, u.email_normalized, content FROM users u
          WHERE u.id = login AND NOT u.placeholder_email AND what IN (${kinds});
        IF FOUND THEN
          PERFORM pg_notify('outbox', 'email');
        END IF;
      END $$;`;
}
