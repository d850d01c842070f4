import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As in the migrations before: the rights of the owner, see row security. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

const TABLES = ['portal_sessions', 'sign_in_attempts'];

const FUNCTIONS = [
  'open_portal_session', 'portal_session', 'list_portal_sessions', 'end_portal_session', 'end_other_portal_sessions',
  'take_attempt', 'forgive_attempts', 'purge_portal',
]; // prettier-ignore

/** A session ends when it was not used for so long, and so long after the sign-in in any case. */
const IDLE = `interval '3 days'`;
const LIFETIME = `interval '30 days'`;

const ALIVE = `s.last_seen_at > now() - ${IDLE} AND s.created_at > now() - ${LIFETIME}
          AND s.created_at >= coalesce((SELECT c.sessions_valid_from FROM credentials c WHERE c.user_id = s.user_id), s.created_at)`;

/**
 * Signing in to the portal. These tables belong to people, not to organizations: no process has a right to them, and each
 * function opens only what belongs to the secret that it is called with.
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
          counted AS (DELETE FROM sign_in_attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM sign_in_attempts
            WHERE minute < now() - interval '1 day' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT 'portal_sessions', count(*) FROM ended UNION ALL SELECT 'sign_in_attempts', count(*) FROM counted
      $$;

      REVOKE EXECUTE ON FUNCTION ${FUNCTIONS.join(', ')} FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION ${FUNCTIONS.join(', ')}; DROP TABLE ${TABLES.join(', ')}`);
  }
}
