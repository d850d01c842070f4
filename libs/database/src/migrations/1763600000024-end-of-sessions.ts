import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/**
 * A session ends when the credential that opened it changes, whoever changes it and at whatever moment. Before, times
 * were compared: a login without a password had none, and a sign-in in progress outlived the password it had used.
 */
export class EndOfSessions1763600000024 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Whoever changes what opens a login holds the login first, as whoever opens a session does.
      CREATE FUNCTION hold_login() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM lock_people(ARRAY[NEW.user_id]);
        RETURN NEW;
      END $$;
      CREATE TRIGGER hold_login BEFORE INSERT ON credentials FOR EACH ROW EXECUTE FUNCTION hold_login();

      CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM portal_sessions WHERE user_id = CASE TG_TABLE_NAME
          WHEN 'users' THEN (to_jsonb(NEW) ->> 'id')::uuid ELSE (to_jsonb(NEW) ->> 'user_id')::uuid END;
        RETURN NULL;
      END $$;
      CREATE TRIGGER end_sessions AFTER INSERT OR UPDATE ON credentials FOR EACH ROW EXECUTE FUNCTION end_sessions();
      -- A login that only a passkey opens has no credentials.
      CREATE TRIGGER end_sessions AFTER UPDATE ON users FOR EACH ROW
        WHEN (OLD.email_normalized IS DISTINCT FROM NEW.email_normalized) EXECUTE FUNCTION end_sessions();

      -- False when the password or passkey that was shown does not open the login any more.
      DROP FUNCTION open_portal_session;
      CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text,
        password text, passkey bytea) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM lock_people(ARRAY[login]);
        INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
        SELECT session, secret, login, left(agent, 300), left(from_network, 50)
        WHERE EXISTS (SELECT FROM credentials c WHERE c.user_id = login AND c.password_hash = password)
          OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = login AND p.credential_id = passkey);
        RETURN FOUND;
      END $$;

      -- The same session with another secret. False when it is over.
      CREATE FUNCTION renew_portal_session(secret bytea, fresh bytea) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE portal_sessions SET secret_hash = fresh WHERE secret_hash = secret;
        RETURN FOUND;
      END $$;

      -- Whoever proves the address meanwhile comes first or later, never in between.
      CREATE OR REPLACE FUNCTION approve_member(login uuid) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        PERFORM lock_people(ARRAY[login]);
        UPDATE members SET status = 'accepted', approval_requested_at = NULL WHERE organization_id = current_organization_id()
          AND user_id = login AND status = 'pending' AND approval_requested_at IS NOT NULL;
        RETURN FOUND;
      END $$;
      -- Whoever proves the address of a login that nobody has used has accepted nothing with it: what organizations have put
      -- there waits for the person. Owners are made by the operator.
      CREATE FUNCTION await_consent() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        -- The operator's word changes nothing else.
        IF is_used(NEW.id) OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
          RETURN NULL;
        END IF;
        ${['members', 'parents']
          .map(
            (table) => `
        UPDATE ${table} SET status = CASE status WHEN 'accepted' THEN 'pending' ELSE status END, accepted_at = NULL,
          supplied_first_name = NEW.first_name, supplied_last_name = NEW.last_name, supplied_email = NEW.email,
          supplied_phone = NEW.phone
        WHERE user_id = NEW.id AND accepted_at IS NOT NULL ${table === 'members' ? `AND role <> 'owner'` : ''}
          AND organization_id IS DISTINCT FROM current_organization_id();`,
          )
          .join('')}
        RETURN NULL;
      END $$;
      CREATE TRIGGER await_consent AFTER UPDATE ON users FOR EACH ROW
        WHEN (OLD.email_verified_at IS NULL AND NEW.email_verified_at IS NOT NULL) EXECUTE FUNCTION await_consent();
      REVOKE ALL ON FUNCTION hold_login, end_sessions, open_portal_session, renew_portal_session, await_consent FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE OR REPLACE FUNCTION approve_member(login uuid) RETURNS boolean LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE members SET status = 'accepted', approval_requested_at = NULL WHERE organization_id = current_organization_id()
          AND user_id = login AND status = 'pending' AND approval_requested_at IS NOT NULL;
        RETURN FOUND;
      END $$;
      DROP FUNCTION open_portal_session, renew_portal_session;
      CREATE FUNCTION open_portal_session(session uuid, secret bytea, login uuid, agent text, from_network text) RETURNS void
        LANGUAGE sql ${AS_MAINTENANCE} AS $$
        INSERT INTO portal_sessions (id, secret_hash, user_id, user_agent, network)
        VALUES (session, secret, login, left(agent, 300), left(from_network, 50))
      $$;
      DROP FUNCTION await_consent CASCADE;
      DROP FUNCTION end_sessions CASCADE;
      DROP FUNCTION hold_login CASCADE;
      REVOKE ALL ON FUNCTION open_portal_session FROM PUBLIC;
    `);
  }
}
