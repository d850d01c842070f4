import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;
const MINE = `organization_id = current_organization_id()`;

/** What writes depend on: idempotency keys, the audit log, invites, the outbox, build hooks. */
export class Writes1763600000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- The answer to the first request with a key, in the transaction of its effect. A second request with the key waits
      -- at the primary key until the first one commits or is gone. answer is null only inside that transaction.
      CREATE TABLE idempotency_keys (
        organization_id uuid NOT NULL REFERENCES organizations,
        operation text NOT NULL,
        key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
        request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
        status integer,
        answer bytea,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        PRIMARY KEY (organization_id, operation, key)
      );
      CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

      -- One row for each write, refused ones too. Never changed, never deleted.
      CREATE TABLE audit_log (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        api_key_id uuid REFERENCES api_keys,
        operation text NOT NULL,
        request_id text NOT NULL,
        status integer NOT NULL,
        result text NOT NULL,
        details jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX audit_log_organization ON audit_log (organization_id, created_at, id);

      -- A way into an organization. account: the mail that goes with a provisioned account. secret_hash is the SHA-256 of the
      -- token or code; sealed keeps the code itself, encrypted, of the two standing join codes alone.
      CREATE TABLE invites (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        scope text NOT NULL CHECK (scope IN ('organization', 'classroom', 'group', 'tutor_student', 'parent', 'account')),
        role text NOT NULL CHECK (role IN ('tutor', 'admin', 'student', 'parent')),
        target_id uuid NOT NULL,
        subject_id uuid,
        email text CHECK (char_length(email) <= 254),
        secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
        standing boolean NOT NULL DEFAULT false,
        sealed bytea,
        api_key_id uuid REFERENCES api_keys,
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        accepted_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (standing = (expires_at IS NULL)),
        CHECK (standing = (sealed IS NOT NULL))
      );
      CREATE INDEX invites_organization ON invites (organization_id, created_at, id);
      CREATE UNIQUE INDEX invites_standing ON invites (organization_id, role) WHERE standing AND revoked_at IS NULL;
      CREATE INDEX invites_expiry ON invites (expires_at) WHERE NOT standing;

      -- When a person was last mailed for this membership: a pending one is not mailed again within a day.
      ALTER TABLE members ADD COLUMN invited_at timestamptz(3);

      -- Work that a write has promised, committed with it. payload is sealed: it holds links. recipient is an email address
      -- or, for a rebuild, what is rebuilt (organization:<id> or brand:<name>).
      CREATE TABLE outbox (
        id uuid PRIMARY KEY,
        organization_id uuid REFERENCES organizations,
        topic text NOT NULL CHECK (topic IN ('email', 'rebuild')),
        kind text NOT NULL,
        recipient text NOT NULL,
        payload bytea,
        status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sent', 'failed', 'dead', 'suppressed')),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        due_at timestamptz(3) NOT NULL DEFAULT now(),
        leased_by text,
        leased_until timestamptz(3),
        last_error text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        finished_at timestamptz(3)
      );
      CREATE INDEX outbox_due ON outbox (topic, due_at) WHERE status IN ('queued', 'failed');
      CREATE INDEX outbox_organization ON outbox (organization_id, created_at);
      CREATE INDEX outbox_finished ON outbox (finished_at) WHERE finished_at IS NOT NULL;
      CREATE INDEX outbox_dead ON outbox (topic) WHERE status = 'dead';

      -- Addresses that a mail server refused for good: nothing is sent there any more, by anybody.
      CREATE TABLE suppressions (
        email_normalized text PRIMARY KEY,
        reason text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );

      -- Whom to tell that a site has to be built anew: of an organization, or of a brand of the platform.
      CREATE TABLE rebuild_hooks (
        target text PRIMARY KEY,
        organization_id uuid REFERENCES organizations,
        url text NOT NULL,
        secret bytea NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (CASE WHEN organization_id IS NULL THEN target ~ '^brand:.' ELSE target = 'organization:' || organization_id END)
      );
    `);
    const platform = `organization_id IS NULL AND current_setting('app.platform_blog', true) = 'on'`;
    const tables: Record<string, string> = {
      idempotency_keys: MINE,
      audit_log: MINE,
      invites: MINE,
      outbox: `${MINE} OR (${platform})`,
      rebuild_hooks: `${MINE} OR (${platform})`,
    };
    for (const [table, rule] of Object.entries(tables)) {
      await runner.query(/* sql */ `
        ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON ${table} USING (${rule}) WITH CHECK (${rule});
        CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});
      `);
    }
    await runner.query(/* sql */ `
      -- The ids of logins by address: provisioning has to know that an address is taken, and nothing of the person.
      CREATE FUNCTION logins_by_email(addresses text[]) RETURNS TABLE (email text, id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT u.email_normalized, u.id FROM users u WHERE u.email_normalized = ANY (addresses)
      $$;

      -- Which of these people other organizations see: their names and addresses are not this one's alone to change. A
      -- pending membership elsewhere does not count: it shows what that organization supplied, and tells nothing here.
      CREATE FUNCTION seen_elsewhere(people uuid[]) RETURNS SETOF uuid LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT user_id FROM members WHERE user_id = ANY (people) AND status <> 'pending'
          AND organization_id <> current_organization_id()
        UNION
        SELECT user_id FROM parents WHERE user_id = ANY (people) AND status <> 'pending'
          AND organization_id <> current_organization_id()
      $$;

      -- Whether mail to an address is pointless; of the addresses asked for only, the list itself is nobody's.
      CREATE FUNCTION suppressed_addresses(addresses text[]) RETURNS SETOF text LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT email_normalized FROM suppressions WHERE email_normalized = ANY (addresses)
      $$;
      CREATE FUNCTION suppress_address(address text, why text) RETURNS void LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        INSERT INTO suppressions (email_normalized, reason) VALUES (address, why) ON CONFLICT DO NOTHING
      $$;
      -- The operator's word that an address takes mail again: false when nothing was held back from it.
      CREATE FUNCTION unsuppress_address(address text) RETURNS boolean LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM suppressions WHERE email_normalized = address;
        RETURN FOUND;
      END $$;

      -- The worker serves every organization: these are its doors, each as narrow as its work.
      -- Takes due messages for a while: they are due again when the lease is over, behind what waits by then. Who dies with
      -- some in hand loses them to the next one. Materialized: a join must not look for due rows once more.
      CREATE FUNCTION claim_outbox(wanted text, worker text, most integer, lease interval) RETURNS SETOF outbox
        LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        WITH due AS MATERIALIZED (
          SELECT id FROM outbox WHERE topic = wanted AND status IN ('queued', 'failed') AND due_at <= now()
          ORDER BY due_at LIMIT most FOR UPDATE SKIP LOCKED)
        UPDATE outbox o SET leased_by = worker, leased_until = now() + lease, due_at = now() + lease,
          attempts = o.attempts + 1
        FROM due WHERE o.id = due.id RETURNING o.*
      $$;
      -- Ends a try: false when the lease was lost to another worker, and with it the right to say how it ended.
      CREATE FUNCTION finish_outbox(message uuid, worker text, outcome text, problem text, again_in interval)
        RETURNS boolean LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE outbox SET status = outcome, last_error = problem, due_at = coalesce(now() + again_in, due_at),
          leased_by = NULL, leased_until = NULL,
          finished_at = CASE WHEN outcome IN ('sent', 'dead', 'suppressed') THEN now() END
        WHERE id = message AND leased_by = worker;
        RETURN FOUND;
      END $$;
      -- Gives back what was claimed and not tried: it is due at once, and the try does not count.
      CREATE FUNCTION release_outbox(messages uuid[], worker text) RETURNS void
        LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        UPDATE outbox SET leased_by = NULL, leased_until = NULL, due_at = now(), attempts = attempts - 1
        WHERE id = ANY (messages) AND leased_by = worker
      $$;
      -- Of these invites (by the hash of their secret) those that open nothing any more.
      CREATE FUNCTION closed_invites(hashes bytea[]) RETURNS SETOF bytea LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT secret_hash FROM invites WHERE secret_hash = ANY (hashes)
          AND (revoked_at IS NOT NULL OR accepted_at IS NOT NULL OR expires_at <= now())
      $$;
      -- Posts whose time has come, with their organization (null: the platform's).
      CREATE FUNCTION due_posts(most integer) RETURNS TABLE (id uuid, organization_id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT p.id, p.organization_id FROM blog_posts p
        WHERE p.scheduled_at <= now() AND p.status = 'draft' ORDER BY p.scheduled_at LIMIT most
      $$;
      CREATE FUNCTION rebuild_hook(wanted text) RETURNS TABLE (url text, secret bytea)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT h.url, h.secret FROM rebuild_hooks h WHERE h.target = wanted
      $$;
      CREATE FUNCTION list_rebuild_hooks() RETURNS TABLE (target text, url text, created_at timestamptz)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT h.target, h.url, h.created_at FROM rebuild_hooks h ORDER BY h.target
      $$;
      -- Organizations whose two standing join codes are not made yet.
      CREATE FUNCTION organizations_without_codes(most integer) RETURNS SETOF uuid
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT o.id FROM organizations o WHERE (SELECT count(*) FROM invites i
          WHERE i.organization_id = o.id AND i.standing AND i.revoked_at IS NULL) < 2 LIMIT most
      $$;
      -- What is kept no longer: answers past their time, messages finished long ago, invites long expired. A bounded number
      -- of each, so that no call takes long; rows that somebody is at are left for the next one.
      CREATE FUNCTION purge_expired(messages_kept interval, invites_kept interval, most integer)
        RETURNS TABLE (what text, rows bigint) LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        WITH keys AS (DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys
            WHERE expires_at < now() LIMIT most FOR UPDATE SKIP LOCKED)) RETURNING 1),
          messages AS (DELETE FROM outbox WHERE ctid = ANY (ARRAY(SELECT ctid FROM outbox
            WHERE finished_at < now() - messages_kept LIMIT most FOR UPDATE SKIP LOCKED)) RETURNING 1),
          old AS (DELETE FROM invites WHERE ctid = ANY (ARRAY(SELECT ctid FROM invites
            WHERE NOT standing AND expires_at < now() - invites_kept LIMIT most FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT 'idempotency_keys', count(*) FROM keys UNION ALL SELECT 'outbox', count(*) FROM messages
        UNION ALL SELECT 'invites', count(*) FROM old
      $$;
      -- The operator's view of the outbox: the newest of a status, or the one that was named.
      CREATE FUNCTION list_outbox(wanted text, named uuid, most integer) RETURNS SETOF outbox
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT * FROM outbox WHERE (wanted IS NULL OR status = wanted) AND (named IS NULL OR id = named)
        ORDER BY created_at DESC, id DESC LIMIT most
      $$;
      -- What waits and since when, and what was given up: numbers, for the operator's gauges.
      CREATE FUNCTION outbox_backlog() RETURNS TABLE (topic text, waiting bigint, oldest_seconds double precision, dead bigint)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT t.topic, count(o.id), coalesce(extract(epoch FROM now() - min(o.created_at)), 0)::double precision,
          (SELECT count(*) FROM outbox d WHERE d.topic = t.topic AND d.status = 'dead')
        FROM (VALUES ('email'), ('rebuild')) t (topic)
        LEFT JOIN outbox o ON o.topic = t.topic AND o.status IN ('queued', 'failed') GROUP BY t.topic
      $$;
      -- Only what nobody is trying at the moment.
      CREATE FUNCTION retry_outbox(message uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        UPDATE outbox SET status = 'queued', attempts = 0, due_at = now(), finished_at = NULL, leased_by = NULL,
          leased_until = NULL
        WHERE id = message AND status IN ('failed', 'dead') AND (leased_until IS NULL OR leased_until < now());
        RETURN FOUND;
      END $$;
      REVOKE ALL ON FUNCTION logins_by_email, seen_elsewhere, claim_outbox, finish_outbox, release_outbox, closed_invites,
        due_posts, rebuild_hook, list_rebuild_hooks, organizations_without_codes, purge_expired, list_outbox, outbox_backlog,
        retry_outbox, suppressed_addresses, suppress_address, unsuppress_address
        FROM PUBLIC;
      DROP FUNCTION login_by_email;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION logins_by_email, seen_elsewhere, claim_outbox, finish_outbox, release_outbox, closed_invites,
        due_posts, rebuild_hook, list_rebuild_hooks, organizations_without_codes, purge_expired, list_outbox, outbox_backlog,
        retry_outbox, suppressed_addresses, suppress_address, unsuppress_address;
      DROP TABLE rebuild_hooks, suppressions, outbox, invites, audit_log, idempotency_keys;
      ALTER TABLE members DROP COLUMN invited_at;
      CREATE FUNCTION login_by_email(address text) RETURNS uuid LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT id FROM users WHERE email_normalized = address
      $$;
      REVOKE ALL ON FUNCTION login_by_email FROM PUBLIC;
    `);
  }
}
