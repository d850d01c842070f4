import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

const PASSKEY = 'passkey uuid, credential bytea, key bytea, counter bigint, kinds text[], called text';
const ADDED = ['is_used', 'store_passkey', 'set_first_passkey', 'take_login_with_passkey'];

/**
 * People may accept an invite with a passkey instead of a password. A login may therefore be in use without having a
 * password.
 */
export class PasskeysAtJoining1763600000019 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Whether anything opens this login.
      CREATE FUNCTION is_used(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT EXISTS (SELECT FROM credentials WHERE user_id = login AND password_hash IS NOT NULL)
          OR EXISTS (SELECT FROM passkeys WHERE user_id = login)
      $$;

      DROP FUNCTION identity_of;
      ${identityOf(', used boolean', ', is_used(u.id)')}
      ${setFirstPassword('AND NOT is_used(u.id)')}

      -- False when somebody has this passkey already.
      CREATE FUNCTION store_passkey(login uuid, ${PASSKEY}) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
          VALUES (passkey, login, credential, key, counter, kinds, called) ON CONFLICT DO NOTHING;
        RETURN FOUND;
      END $$;

      -- As set_first_password: for a login that nobody has proven or used yet, and that no other organization knows of.
      CREATE FUNCTION set_first_passkey(login uuid, ${PASSKEY}) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM FROM users WHERE id = login FOR NO KEY UPDATE;
        IF is_used(login) OR tied_elsewhere(login)
          OR NOT EXISTS (SELECT FROM users WHERE id = login AND email_verified_at IS NULL) THEN
          RETURN false;
        END IF;
        RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
      END $$;

      -- As take_login by somebody who does not know the password: this passkey is all that opens the login from now on.
      CREATE FUNCTION take_login_with_passkey(login uuid, address text, ${PASSKEY}) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF NOT take_login(login, address, NULL, false) THEN
          RETURN false;
        END IF;
        RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
      END $$;

      -- For whoever is signed in. Whoever takes the login over meanwhile comes first: then the session is over, and adds nothing.
      CREATE OR REPLACE FUNCTION add_passkey(secret bytea, ${PASSKEY}) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login uuid;
      BEGIN
        PERFORM FROM users WHERE id = (SELECT user_id FROM portal_sessions WHERE secret_hash = secret) FOR NO KEY UPDATE;
        SELECT s.user_id INTO login FROM portal_session(secret) s;
        IF login IS NULL OR (SELECT count(*) FROM passkeys p WHERE p.user_id = login) >= 20 THEN
          RETURN false;
        END IF;
        RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
      END $$;
      ${removePasskey(`AND (EXISTS (SELECT FROM passkeys o WHERE o.user_id = p.user_id AND o.id <> p.id)
            OR EXISTS (SELECT FROM credentials c WHERE c.user_id = p.user_id AND c.password_hash IS NOT NULL))`)}

      REVOKE EXECUTE ON FUNCTION ${[...ADDED, 'identity_of'].join(', ')} FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION identity_of;
      ${identityOf('', '')}
      ${setFirstPassword('')}
      ${removePasskey('')}
      CREATE OR REPLACE FUNCTION add_passkey(secret bytea, ${PASSKEY}) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
          SELECT passkey, s.user_id, credential, key, counter, kinds, called FROM portal_sessions s
          WHERE s.secret_hash = secret AND (SELECT count(*) FROM passkeys p WHERE p.user_id = s.user_id) < 20
          ON CONFLICT DO NOTHING;
        RETURN FOUND;
      END $$;
      DROP FUNCTION ${ADDED.join(', ')};
      REVOKE EXECUTE ON FUNCTION identity_of FROM PUBLIC;
    `);
  }
}

/** Finds a login by address or id. If `held`, neither changes until the transaction ends. */
function identityOf(column: string, value: string): string {
  return /* sql */ `
      CREATE FUNCTION identity_of(address text, login uuid, hold boolean) RETURNS TABLE (id uuid, email text,
        email_normalized text, first_name text, last_name text, verified boolean, password_hash text, elsewhere boolean${column})
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF hold THEN
          PERFORM FROM users u WHERE u.email_normalized = address OR u.id = login ORDER BY u.id FOR NO KEY UPDATE;
        END IF;
        RETURN QUERY SELECT u.id, u.email, u.email_normalized, u.first_name, u.last_name, u.email_verified_at IS NOT NULL,
          c.password_hash, tied_elsewhere(u.id)${value}
        FROM users u LEFT JOIN credentials c ON c.user_id = u.id
        WHERE NOT u.placeholder_email AND (u.email_normalized = address OR u.id = login);
      END $$;`;
}

/** For logins that nobody has verified or used yet and that no other organization knows. */
function setFirstPassword(more: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION set_first_password(login uuid, hash text) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO credentials AS c (user_id, password_hash)
        SELECT u.id, hash FROM users u
        WHERE u.id = login AND u.email_verified_at IS NULL AND NOT tied_elsewhere(u.id) ${more}
        ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now() WHERE c.password_hash IS NULL;
        RETURN FOUND;
      END $$;`;
}

/** Never removes a login's last credential. The later of two concurrent calls sees what the earlier one did. */
function removePasskey(more: string): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION remove_passkey(secret bytea, passkey uuid) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM FROM users WHERE id = (SELECT user_id FROM portal_sessions WHERE secret_hash = secret) FOR NO KEY UPDATE;
        DELETE FROM passkeys p USING portal_sessions s
          WHERE s.secret_hash = secret AND p.user_id = s.user_id AND p.id = passkey ${more};
        RETURN FOUND;
      END $$;`;
}
