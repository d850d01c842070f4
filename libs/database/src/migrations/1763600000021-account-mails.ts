import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

const ADDED = ['has_passkeys', 'mail_credential_notice', 'membership_offers', 'decline_ties'];
const REPLACED = ['mail_password_link', 'password_link', 'use_password_link'];

/**
 * Mails about a person's own account: new links to verify the address, and notices of changed passwords and passkeys.
 * Also the organizations' offers to a person who has verified the address, and the person's answers.
 */
export class AccountMails1763600000021 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE FUNCTION has_passkeys(login uuid) RETURNS boolean LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT EXISTS (SELECT FROM passkeys p WHERE p.user_id = login)
      $$;

      -- Tells the address of a login that what opens the login has changed.
      CREATE FUNCTION mail_credential_notice(login uuid, what text, mail uuid, content bytea) RETURNS void
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        INSERT INTO outbox (id, topic, kind, recipient, email_normalized, payload)
          SELECT mail, 'email', what, u.email, u.email_normalized, content FROM users u
          WHERE u.id = login AND NOT u.placeholder_email AND what IN ('password_changed', 'passkey_added', 'passkey_removed');
        IF FOUND THEN
          PERFORM pg_notify('outbox', 'email');
        END IF;
      END $$;

      DROP FUNCTION ${REPLACED.join(', ')};
      ${mailPasswordLink(', confirms boolean', 'AND NOT (confirms AND email_verified_at IS NOT NULL)', `CASE WHEN confirms THEN 'address_confirmation' ELSE 'password_reset' END`)}
      ${takeLogin(`
        -- Nobody knows whose request to teach here it was, so nobody may grant it.
        UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL WHERE user_id = login`)}

      -- Whose password the link sets, and what opens the login now. Looking changes nothing: mail scanners open links.
      CREATE FUNCTION password_link(secret bytea) RETURNS TABLE (user_id uuid, email text, unproven boolean,
        password_hash text, passkeys boolean) LANGUAGE sql STABLE ROWS 1 ${AS_MAINTENANCE} AS $$
        SELECT u.id, u.email, u.email_verified_at IS NULL AND is_used(u.id), c.password_hash, has_passkeys(u.id)
        FROM password_links l JOIN users u ON u.id = l.user_id AND u.email_normalized = l.email_normalized
          LEFT JOIN credentials c ON c.user_id = u.id
        WHERE l.secret_hash = secret AND l.expires_at > now()
      $$;

      -- Proves the address, and sets the password where one is given; once. Somebody who has shown what opens the login
      -- already, the password with this hash or this passkey, keeps everything. Without that, whoever was signed in is not any
      -- more; where somebody unknown has used the login before its address was proven, their passkeys go, and what they
      -- accepted waits for the person.
      CREATE FUNCTION use_password_link(secret bytea, hash text, shown text, shown_passkey uuid) RETURNS uuid
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
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
        IF EXISTS (SELECT FROM credentials c WHERE c.user_id = login.id AND c.password_hash = shown)
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

      -- What waits for an answer of whoever has this session: of a login whose address is proven, and nothing of any other.
      CREATE FUNCTION membership_offers(secret bytea) RETURNS TABLE (organization_id uuid, organization text, role text,
        as_parent boolean) LANGUAGE sql ${AS_MAINTENANCE} AS $$
        SELECT o.id, o.name, t.role, t.as_parent
        FROM portal_session(secret) s,
          LATERAL (SELECT m.organization_id, m.role, false AS as_parent FROM members m
              WHERE m.user_id = s.user_id AND m.status = 'pending' AND m.approval_requested_at IS NULL
            UNION ALL SELECT p.organization_id, 'parent', true FROM parents p
              WHERE p.user_id = s.user_id AND p.status = 'pending' AND p.enrolled_at IS NOT NULL) t
          JOIN organizations o ON o.id = t.organization_id
        WHERE s.verified ORDER BY o.name, o.id, t.as_parent LIMIT 100
      $$;

      -- The opposite of accept_ties: the person does not want to belong to the organization of this transaction.
      CREATE FUNCTION decline_ties(login uuid, as_parent boolean) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE here uuid := current_organization_id();
      BEGIN
        PERFORM lock_people(ARRAY[login]);
        IF as_parent THEN
          UPDATE parents SET status = 'archived' WHERE organization_id = here AND user_id = login AND status = 'pending';
        ELSE
          UPDATE members SET status = 'archived', archived_at = now()
            WHERE organization_id = here AND user_id = login AND status = 'pending' AND approval_requested_at IS NULL;
        END IF;
        RETURN FOUND;
      END $$;

      REVOKE EXECUTE ON FUNCTION ${[...ADDED, ...REPLACED].join(', ')} FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION ${[...ADDED, ...REPLACED].join(', ')};
      ${mailPasswordLink('', '', `'password_reset'`)}
      ${takeLogin(`
        UPDATE members SET approval_requested_at = NULL WHERE user_id = login`)}
      CREATE FUNCTION password_link(secret bytea) RETURNS TABLE (user_id uuid, email text) LANGUAGE sql STABLE ROWS 1
        ${AS_MAINTENANCE} AS $$
        SELECT u.id, u.email FROM password_links l JOIN users u ON u.id = l.user_id
          AND u.email_normalized = l.email_normalized
        WHERE l.secret_hash = secret AND l.expires_at > now()
      $$;
      CREATE FUNCTION use_password_link(secret bytea, hash text) RETURNS uuid LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login users; taken_over boolean;
      BEGIN
        SELECT u.* INTO login FROM password_links l JOIN users u ON u.id = l.user_id
          AND u.email_normalized = l.email_normalized
          WHERE l.secret_hash = secret AND l.expires_at > now() FOR NO KEY UPDATE OF u;
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
      REVOKE EXECUTE ON FUNCTION ${REPLACED.join(', ')} FROM PUBLIC;
    `);
  }
}

/** Creates a link for the login with an address, and the mail that contains it. Without such a login, does nothing. */
function mailPasswordLink(parameter: string, condition: string, kind: string): string {
  return /* sql */ `
      CREATE FUNCTION mail_password_link(address text, secret bytea, life interval, mail uuid, content bytea${parameter})
        RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login users;
      BEGIN
        SELECT * INTO login FROM users WHERE email_normalized = address AND NOT placeholder_email ${condition};
        IF FOUND THEN
          PERFORM add_password_link(secret, login.id, life);
          INSERT INTO outbox (id, topic, kind, recipient, email_normalized, link_expires_at, payload)
            VALUES (mail, 'email', ${kind}, login.email, address, now() + life, content);
          PERFORM pg_notify('outbox', 'email');
        END IF;
      END $$;`;
}

/** As in Portal1763600000015, but also handles requests that wait for approval. */
function takeLogin(requests: string): string {
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
        ${requests} AND approval_requested_at IS NOT NULL
          AND organization_id IS DISTINCT FROM current_organization_id();
        DELETE FROM passkeys p WHERE p.user_id = login;
        RETURN true;
      END $$;`;
}
