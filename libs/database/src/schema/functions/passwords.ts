import { AS_OWNER } from '../rules.js';
import { ALIVE } from './sign-in.js';

/** Setting and changing passwords. */
export const passwords = /* sql */ `
  -- Reveals nothing about the address. While no worker runs, requests are kept for an hour.
  CREATE FUNCTION request_password_link(mail uuid, address text, secret bytea, life interval, content bytea,
    kind text) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
      WHERE o.requested_at <= now() - interval '1 hour' LIMIT 100 FOR UPDATE SKIP LOCKED));
    INSERT INTO password_link_requests (id, email_normalized, kind, secret_hash, content, expires_at)
      VALUES (mail, address, kind, secret, content, now() + life);
    PERFORM pg_notify('outbox', 'passwordLinks');
  END $$;

  -- Deletes the oldest requests, and mails the logins among them. The link's lifetime began with the request.
  CREATE FUNCTION resolve_password_links() RETURNS integer LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE request password_link_requests; resolved integer := 0;
  BEGIN
    FOR request IN DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
      ORDER BY o.requested_at, o.id LIMIT 100 FOR UPDATE SKIP LOCKED)) RETURNING r.* LOOP
      resolved := resolved + 1;
      IF request.kind = 'wrong_passwords' THEN
        PERFORM mail_credential_notice(u.id, request.kind, request.id, request.content)
          FROM users u JOIN credentials c ON c.user_id = u.id
          WHERE u.email_normalized = request.email_normalized AND c.password_hash IS NOT NULL;
      ELSIF request.expires_at > now() AND request.requested_at > now() - interval '1 hour' THEN
        PERFORM mail_password_link(request.email_normalized, request.secret_hash,
          request.expires_at - now(), request.id, request.content, request.kind = 'address_confirmation');
      END IF;
    END LOOP;
    RETURN resolved;
  END $$;

  -- A link for the login of an address, if there is one, and the mail with it.
  CREATE FUNCTION mail_password_link(address text, secret bytea, life interval, mail uuid, content bytea,
    confirms boolean) RETURNS void
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login users;
  BEGIN
    SELECT * INTO login FROM users WHERE email_normalized = address AND NOT placeholder_email
      AND NOT (confirms AND email_verified_at IS NOT NULL);
    IF FOUND THEN
      PERFORM add_password_link(secret, login.id, life);
      INSERT INTO outbox (id, topic, kind, recipient, email_normalized, link_expires_at, payload)
        VALUES (mail, 'email', CASE WHEN confirms THEN 'address_confirmation' ELSE 'password_reset' END,
          login.email, address, now() + life, content);
    END IF;
  END $$;

  CREATE FUNCTION add_password_link(secret bytea, login uuid, life interval) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
    INSERT INTO password_links SELECT secret, u.id, u.email_normalized, now() + least(life, interval '14 days')
    FROM users u WHERE u.id = login AND NOT u.placeholder_email
  $$;

  -- The login of a link, and what opens it now. Looking changes nothing, because mail scanners open links.
  CREATE FUNCTION password_link(secret bytea) RETURNS TABLE (user_id uuid, email text, unproven boolean,
    password_salt text, passkeys boolean)
    LANGUAGE sql STABLE ROWS 1 ${AS_OWNER} AS $$
    SELECT u.id, u.email, u.email_verified_at IS NULL AND is_used(u.id), salt_of(c.password_hash), has_passkeys(u.id)
    FROM password_links l JOIN users u ON u.id = l.user_id AND u.email_normalized = l.email_normalized
      LEFT JOIN credentials c ON c.user_id = u.id
    WHERE l.secret_hash = secret AND l.expires_at > now()
  $$;

  -- Proves the address, and sets the password if one is given; once. Somebody who has shown what opens the login already,
  -- the password with this hash or this passkey, keeps everything. Otherwise all sessions end; and if somebody unknown has
  -- used the login before its address was proven, their passkeys end too, and what they accepted waits for the person.
  CREATE FUNCTION use_password_link(secret bytea, hash text, shown text, shown_passkey uuid) RETURNS uuid
    LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login users; taken_over boolean;
  BEGIN
    SELECT u.* INTO login FROM password_links l JOIN users u ON u.id = l.user_id
      AND u.email_normalized = l.email_normalized
      WHERE l.secret_hash = secret AND l.expires_at > now() FOR NO KEY UPDATE OF u;
    -- Of two concurrent calls the later one waits for the login, and finds the link gone.
    DELETE FROM password_links l WHERE l.secret_hash = secret;
    IF login.id IS NULL OR NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF is_password(login.id, shown)
      OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = login.id AND p.id = shown_passkey) THEN
      PERFORM take_login(login.id, login.email_normalized, NULL, true);
      DELETE FROM password_links l WHERE l.user_id = login.id;
      RETURN login.id;
    END IF;
    IF hash IS NULL THEN
      RETURN NULL;
    END IF;
    taken_over := login.email_verified_at IS NULL
      AND (has_passkeys(login.id) OR EXISTS (SELECT FROM credentials c WHERE c.user_id = login.id));
    PERFORM take_login(login.id, login.email_normalized, hash, NOT taken_over);
    IF NOT taken_over THEN
      INSERT INTO credentials (user_id, password_hash) VALUES (login.id, hash)
        ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
    END IF;
    DELETE FROM password_links l WHERE l.user_id = login.id;
    DELETE FROM portal_sessions s WHERE s.user_id = login.id;
    RETURN login.id;
  END $$;

  -- For somebody who is signed in and has shown the former password. All sessions end, this one too.
  CREATE FUNCTION change_password(secret bytea, hash text) RETURNS uuid LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE login uuid;
  BEGIN
    SELECT s.user_id INTO login FROM portal_sessions s WHERE s.secret_hash = secret
      AND ${ALIVE};
    IF login IS NOT NULL THEN
      INSERT INTO credentials (user_id, password_hash) VALUES (login, hash)
        ON CONFLICT (user_id) DO UPDATE SET password_hash = hash, sessions_valid_from = now();
      DELETE FROM password_links l WHERE l.user_id = login;
      DELETE FROM portal_sessions s WHERE s.user_id = login;
    END IF;
    RETURN login;
  END $$;
`;
