import { MANAGES } from '../people.js';
import { AS_OWNER } from '../rules.js';

/** Sessions end after this time without use, and in any case after `LIFETIME`. */
const IDLE = `interval '3 days'`;
const LIFETIME = `interval '30 days'`;

/** For how long a session may do what the cookie alone must not. */
const CONFIRMED = `interval '15 minutes'`;

/** Whether the session `s` is not over. */
export const ALIVE = `s.last_seen_at > now() - ${IDLE} AND s.created_at > now() - ${LIFETIME}
      AND s.created_at >= coalesce(
        (SELECT c.sessions_valid_from FROM credentials c WHERE c.user_id = s.user_id), s.created_at)`;

/**
 * Logins and the portal's sessions. No process has rights on their tables: each function gives access only to what
 * belongs to its caller's secret.
 */
export const signIn = /* sql */ `
  -- Finds a login by address or id, with the parameters and the salt of its password. hold: neither changes until the transaction ends.
  CREATE FUNCTION identity_of(address text, login uuid, hold boolean) RETURNS TABLE (id uuid, email text,
    email_normalized text, first_name text, last_name text, verified boolean, password_salt text, elsewhere boolean,
    used boolean)
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    IF hold THEN
      PERFORM FROM users u WHERE u.email_normalized = address OR u.id = login ORDER BY u.id FOR NO KEY UPDATE;
    END IF;
    RETURN QUERY SELECT u.id, u.email, u.email_normalized, u.first_name, u.last_name, u.email_verified_at IS NOT NULL,
      salt_of(c.password_hash), tied_elsewhere(u.id), is_used(u.id)
    FROM users u LEFT JOIN credentials c ON c.user_id = u.id
    WHERE NOT u.placeholder_email AND (u.email_normalized = address OR u.id = login);
  END $$;

  -- What the portal needs to hash a typed password: all but the hash itself, which it never sees.
  CREATE FUNCTION salt_of(hash text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT regexp_replace(hash, '[^$]*$', '') $$;

  -- Whether this is the hash of the login's password. The same work whether there is one or not, and wherever they differ.
  CREATE FUNCTION is_password(login uuid, hash text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT coalesce((SELECT sha256(convert_to(c.password_hash, 'UTF8')) FROM credentials c WHERE c.user_id = login)
      = sha256(convert_to(hash, 'UTF8')), false)
  $$;

  -- Whether a password or a passkey opens this login.
  CREATE FUNCTION is_used(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM credentials WHERE user_id = login AND password_hash IS NOT NULL)
      OR EXISTS (SELECT FROM passkeys WHERE user_id = login)
  $$;

  CREATE FUNCTION has_passkeys(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM passkeys p WHERE p.user_id = login)
  $$;

  -- For a login that nobody has verified or used yet, and that no other organization knows.
  CREATE FUNCTION set_first_password(login uuid, hash text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    INSERT INTO credentials AS c (user_id, password_hash)
    SELECT u.id, hash FROM users u
    WHERE u.id = login AND u.email_verified_at IS NULL AND NOT tied_elsewhere(u.id) AND NOT is_used(u.id)
    ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now() WHERE c.password_hash IS NULL;
    RETURN FOUND;
  END $$;

  -- Whether this is the second secret of the open invite, which was mailed to this address. Only its SHA-256 is stored, so who
  -- can read the table cannot answer. A domain in ASCII form is compared by the mailbox alone: SQL cannot decode it.
  CREATE FUNCTION is_proof(invite uuid, proof text, login uuid, address text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM invites i WHERE i.id = invite AND i.proof_hash = sha256(convert_to(proof, 'UTF8'))
      AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
      AND (i.user_id = login OR folded(i.email) = folded(address)
        OR (i.email ~* '@(.*[.])?xn--' AND folded(split_part(i.email, '@', 1)) = folded(split_part(address, '@', 1)))))
  $$;

  -- take_login for whoever has the mail of an invite to this address.
  CREATE FUNCTION prove_login(invite uuid, proof text, login uuid, address text, hash text, same_person boolean)
    RETURNS boolean LANGUAGE sql ${AS_OWNER} AS $$
    SELECT CASE WHEN is_proof(invite, proof, login, address) THEN take_login(login, address, hash, same_person) ELSE false END
  $$;

  -- The address is proven. Whoever proves it without knowing the password takes the login over: sessions and passkeys end,
  -- and what somebody unknown accepted before waits for the person in every organization but this one.
  CREATE FUNCTION take_login(login uuid, address text, hash text, same_person boolean) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE users SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = login AND email_normalized = address;
    IF NOT FOUND OR same_person THEN
      RETURN FOUND;
    END IF;
    INSERT INTO credentials (user_id, password_hash) VALUES (login, hash)
      ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
    PERFORM end_ways_in(login);
    UPDATE members t SET status = 'pending', approval_requested_at = NULL
    WHERE t.user_id = login AND t.accepted_at IS NOT NULL AND t.organization_id IS DISTINCT FROM current_organization_id();
    UPDATE parents t SET status = 'pending'
    WHERE t.user_id = login AND t.accepted_at IS NOT NULL AND t.organization_id IS DISTINCT FROM current_organization_id();
    -- Nobody knows whose request to join it was, so nobody may grant it.
    UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
    WHERE user_id = login AND approval_requested_at IS NOT NULL
      AND organization_id IS DISTINCT FROM current_organization_id();
    DELETE FROM joins WHERE user_id = login AND approval = 'waiting'
      AND organization_id IS DISTINCT FROM current_organization_id();
    DELETE FROM passkeys p WHERE p.user_id = login;
    RETURN true;
  END $$;

  -- What somebody unknown opened with a login, or could read, ends in every organization, as WaysIn of libs/access ends it: keys and codes,
  -- and invites wait for an owner. The worker makes permanent codes anew, as this cannot encrypt any.
  CREATE FUNCTION end_ways_in(login uuid) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE keys uuid[] := ARRAY(SELECT id FROM api_keys WHERE created_by = login);
  BEGIN
    UPDATE api_keys SET revoked_at = now() WHERE id = ANY (keys) AND revoked_at IS NULL;
    UPDATE invites i SET revoked_at = now(), switched_off = sealed IS NULL
    WHERE i.email IS NULL AND i.revoked_at IS NULL AND i.accepted_at IS NULL AND (i.standing OR i.expires_at > now())
      AND (i.created_by = login OR i.api_key_id = ANY (keys) OR (i.sealed IS NOT NULL AND EXISTS (SELECT FROM members m
        WHERE m.organization_id = i.organization_id AND m.user_id = login AND m.status = 'accepted' AND m.${MANAGES.sql})));
    UPDATE invites i SET held_at = now(), expires_at = least(i.expires_at, now() + interval '14 days')
    WHERE i.email IS NOT NULL AND i.scope <> 'account' AND i.held_at IS NULL AND i.accepted_at IS NULL AND i.revoked_at IS NULL
      AND (i.created_by = login OR i.api_key_id = ANY (keys));
  END $$;

  -- A change of credentials locks the login first, as opening a session does.
  CREATE FUNCTION hold_login() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    PERFORM lock_people(ARRAY[NEW.user_id]);
    RETURN NEW;
  END $$;

  -- Sessions and device cookies end when the credentials of a login change, whoever changes them and at whatever moment.
  CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login uuid := CASE TG_TABLE_NAME
      WHEN 'users' THEN (to_jsonb(NEW) ->> 'id')::uuid ELSE (to_jsonb(NEW) ->> 'user_id')::uuid END;
  BEGIN
    DELETE FROM portal_sessions WHERE user_id = login;
    DELETE FROM device_cookies WHERE user_id = login;
    RETURN NULL;
  END $$;

  CREATE FUNCTION is_known_browser(login uuid, issued timestamptz) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT EXISTS (SELECT FROM device_cookies d WHERE d.user_id = login AND d.valid_from <= issued
      AND issued > now() - interval '1 year')
  $$;

  -- No row if the password or passkey that was shown does not open the login any more. A browser is new if it has no valid
  -- device cookie although somebody has signed in to the login before.
  CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text,
    password text, passkey bytea, device_cookie timestamptz) RETURNS TABLE (address text, issued_at timestamptz,
    new_browser boolean)
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  BEGIN
    PERFORM lock_people(ARRAY[login]);
    INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network, confirmed_at)
    SELECT session, secret, login, left(agent, 300), left(from_network, 50), now()
    WHERE is_password(login, password)
      OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = login AND p.credential_id = passkey);
    IF NOT FOUND THEN
      RETURN;
    END IF;
    PERFORM audit_login(login, 'sign in', left(from_network, 50));
    new_browser := NOT is_known_browser(login, device_cookie);
    INSERT INTO device_cookies (user_id) VALUES (login) ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT u.email_normalized, now()::timestamptz(3), new_browser AND NOT FOUND
      FROM users u WHERE u.id = login;
  END $$;

  -- Gives a session another secret. False if it is over.
  CREATE FUNCTION renew_portal_session(secret bytea, fresh bytea) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE portal_sessions SET secret_hash = fresh WHERE secret_hash = secret;
    RETURN FOUND;
  END $$;

  -- The person of this session has shown a password or passkey again. The session gets another secret, so that a copied
  -- cookie gains nothing. False if the session is over, or what was shown does not open its login.
  CREATE FUNCTION confirm_portal_session(secret bytea, fresh bytea, password text, passkey bytea) RETURNS boolean
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    UPDATE portal_sessions s SET secret_hash = fresh, confirmed_at = now()
      WHERE s.secret_hash = secret AND ${ALIVE}
        AND (is_password(s.user_id, password)
        OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = s.user_id AND p.credential_id = passkey));
    RETURN FOUND;
  END $$;

  -- Who is signed in, and where they belong; no row if the session is over. last_seen_at is kept to the minute.
  CREATE FUNCTION portal_session(secret bytea) RETURNS TABLE (id uuid, user_id uuid, email text, first_name text,
    last_name text, verified boolean, confirmed boolean, memberships json)
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  BEGIN
    UPDATE portal_sessions s SET last_seen_at = now()
      WHERE s.secret_hash = secret AND s.last_seen_at < now() - interval '1 minute'
      AND ${ALIVE};
    RETURN QUERY SELECT s.id, u.id, u.email, u.first_name, u.last_name, u.email_verified_at IS NOT NULL,
      coalesce(s.confirmed_at > now() - ${CONFIRMED}, false),
      coalesce((SELECT json_agg(json_build_object('organizationId', o.id, 'slug', o.slug, 'name', o.name,
          'timeZone', o.time_zone, 'role', m.role, 'isParent', m.is_parent,
          'sharesLearning', o.shares_learning, 'contact', contact_of(o)) ORDER BY o.name, o.id)
        FROM (SELECT organization_id, role, EXISTS (SELECT FROM parents p WHERE p.organization_id = members.organization_id
              AND p.user_id = u.id AND p.status = 'accepted') AS is_parent
            FROM members WHERE members.user_id = u.id AND status = 'accepted'
          UNION ALL SELECT organization_id, 'parent', true FROM parents p WHERE p.user_id = u.id AND p.status = 'accepted'
            AND NOT EXISTS (SELECT FROM members t WHERE t.organization_id = p.organization_id AND t.user_id = u.id
              AND t.status = 'accepted')) m
        JOIN organizations o ON o.id = m.organization_id), '[]')
    FROM portal_sessions s JOIN users u ON u.id = s.user_id WHERE s.secret_hash = secret
      AND ${ALIVE};
  END $$;

  -- Whose session it is, for functions that see no other's rows; null once it has ended.
  CREATE FUNCTION person_of_session(secret bytea) RETURNS uuid LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT s.user_id FROM portal_sessions s WHERE s.secret_hash = secret AND ${ALIVE}
  $$;

  -- All sessions of this session's person.
  CREATE FUNCTION list_portal_sessions(secret bytea) RETURNS TABLE (id uuid, created_at timestamptz,
    last_seen_at timestamptz, user_agent text, network text, current boolean)
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT s.id, s.created_at, s.last_seen_at, s.user_agent, s.network, s.secret_hash = secret
    FROM portal_sessions s JOIN portal_sessions mine ON mine.user_id = s.user_id AND mine.secret_hash = secret
    WHERE ${ALIVE}
    ORDER BY s.secret_hash = secret DESC, s.last_seen_at DESC LIMIT 100
  $$;

  -- Ends one session of this session's person; without an id, this one.
  CREATE FUNCTION end_portal_session(secret bytea, wanted uuid) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM portal_sessions s USING portal_sessions mine
      WHERE mine.secret_hash = secret AND s.user_id = mine.user_id AND s.id = coalesce(wanted, mine.id);
    RETURN FOUND;
  END $$;

  -- Voids the device cookies of the others, too. This browser gets one with the returned time.
  CREATE FUNCTION end_other_portal_sessions(secret bytea) RETURNS TABLE (ended integer, issued_at timestamptz)
    LANGUAGE plpgsql ROWS 1 ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM portal_sessions s USING portal_sessions mine
      WHERE mine.secret_hash = secret AND s.user_id = mine.user_id AND s.id <> mine.id;
    GET DIAGNOSTICS ended = ROW_COUNT;
    issued_at := now()::timestamptz(3);
    UPDATE device_cookies d SET valid_from = now() FROM portal_sessions mine
      WHERE mine.secret_hash = secret AND d.user_id = mine.user_id;
    RETURN NEXT;
  END $$;

  -- Counts an attempt, of which there may be so many in a span. Returns the seconds to wait if these are used up, else 0.
  -- Refused attempts do not count, so that whoever is limited can come back.
  CREATE FUNCTION take_attempt(whose bytea, span interval, most integer) RETURNS integer
    LANGUAGE plpgsql ${AS_OWNER} AS $$
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

  -- The last attempt was right, and does not count. Earlier ones do: somebody who knows one right answer could otherwise
  -- guess at others for ever.
  CREATE FUNCTION give_back_attempt(whose bytea) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    UPDATE sign_in_attempts SET attempts = attempts - 1
    WHERE subject = whose AND attempts > 0
      AND minute = (SELECT max(minute) FROM sign_in_attempts WHERE subject = whose AND attempts > 0)
  $$;

  -- Mails the login what has happened to its password, its passkeys or with them.
  CREATE FUNCTION mail_credential_notice(login uuid, what text, mail uuid, content bytea) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    INSERT INTO outbox (id, topic, kind, recipient, email_normalized, payload)
      SELECT mail, 'email', what, u.email, u.email_normalized, content FROM users u
      WHERE u.id = login AND NOT u.placeholder_email AND what IN
        ('welcome', 'password_changed', 'passkey_added', 'passkey_removed', 'new_browser_sign_in', 'wrong_passwords',
          'account_deletion');
  END $$;
`;
