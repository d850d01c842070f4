import { AS_OWNER } from '../rules.js';

const PASSKEY = 'passkey uuid, credential bytea, key bytea, counter bigint, kinds text[], called text';

/** Passkeys: people manage their own while signed in. Sign-in finds a passkey by the id that the browser sends. */
export const passkeys = /* sql */ `
  -- False if somebody has this passkey already.
  CREATE FUNCTION store_passkey(login uuid, ${PASSKEY}) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
      VALUES (passkey, login, credential, key, counter, kinds, called) ON CONFLICT DO NOTHING;
    RETURN FOUND;
  END $$;

  -- As set_first_password: for a login that nobody has verified or used yet, and that no other organization knows.
  CREATE FUNCTION set_first_passkey(login uuid, ${PASSKEY}) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM FROM users WHERE id = login FOR NO KEY UPDATE;
    IF is_used(login) OR tied_elsewhere(login)
      OR NOT EXISTS (SELECT FROM users WHERE id = login AND email_verified_at IS NULL) THEN
      RETURN false;
    END IF;
    RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
  END $$;

  -- As take_login by somebody who does not know the password: only this passkey opens the login from now on.
  CREATE FUNCTION take_login_with_passkey(login uuid, address text, ${PASSKEY}) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF NOT take_login(login, address, NULL, false) THEN
      RETURN false;
    END IF;
    RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
  END $$;

  CREATE FUNCTION prove_login_with_passkey(invite uuid, proof text, login uuid, address text, ${PASSKEY})
    RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    SELECT CASE WHEN is_proof(invite, proof, login, address)
      THEN take_login_with_passkey(login, address, passkey, credential, key, counter, kinds, called) ELSE false END
  $$;

  -- For somebody who is signed in. If somebody takes the login over at the same time, the session is over and adds nothing.
  CREATE FUNCTION add_passkey(secret bytea, ${PASSKEY}) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login uuid;
  BEGIN
    PERFORM FROM users WHERE id = (SELECT user_id FROM portal_sessions WHERE secret_hash = secret) FOR NO KEY UPDATE;
    SELECT s.user_id INTO login FROM portal_session(secret) s;
    IF login IS NULL OR (SELECT count(*) FROM passkeys p WHERE p.user_id = login) >= 20 THEN
      RETURN false;
    END IF;
    RETURN store_passkey(login, passkey, credential, key, counter, kinds, called);
  END $$;

  CREATE FUNCTION list_passkeys(secret bytea) RETURNS TABLE (id uuid, credential_id bytea, name text,
    created_at timestamptz, last_used_at timestamptz)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT p.id, p.credential_id, p.name, p.created_at, p.last_used_at FROM passkeys p
    JOIN portal_sessions s ON s.user_id = p.user_id AND s.secret_hash = secret ORDER BY p.created_at, p.id
  $$;

  CREATE FUNCTION rename_passkey(secret bytea, passkey uuid, called text) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE passkeys p SET name = called FROM portal_sessions s
      WHERE s.secret_hash = secret AND p.user_id = s.user_id AND p.id = passkey;
    RETURN FOUND;
  END $$;

  CREATE FUNCTION remove_passkey(secret bytea, passkey uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM FROM users WHERE id = (SELECT user_id FROM portal_sessions WHERE secret_hash = secret) FOR NO KEY UPDATE;
    DELETE FROM passkeys p USING portal_sessions s
      WHERE s.secret_hash = secret AND p.user_id = s.user_id AND p.id = passkey
        AND (EXISTS (SELECT FROM passkeys o WHERE o.user_id = p.user_id AND o.id <> p.id)
        OR EXISTS (SELECT FROM credentials c WHERE c.user_id = p.user_id AND c.password_hash IS NOT NULL));
    RETURN FOUND;
  END $$;

  CREATE FUNCTION passkey_by_credential(credential bytea) RETURNS TABLE (id uuid, user_id uuid, public_key bytea,
    sign_count bigint, transports text[])
    LANGUAGE sql STABLE ROWS 1 ${AS_OWNER} AS $$
    SELECT p.id, p.user_id, p.public_key, p.sign_count, p.transports FROM passkeys p WHERE p.credential_id = credential
  $$;

  -- Records a use. False if another use with this count came first.
  CREATE FUNCTION use_passkey(passkey uuid, counter bigint) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE passkeys p SET last_used_at = now(), sign_count = counter
      WHERE p.id = passkey AND (p.sign_count < counter OR (p.sign_count = 0 AND counter = 0));
    RETURN FOUND;
  END $$;
`;
