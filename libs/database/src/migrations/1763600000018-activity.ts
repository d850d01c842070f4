import type { MigrationInterface, QueryRunner } from 'typeorm';
import { secureTable } from './secure-table.v1.js';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MINE = `organization_id = current_organization_id()`;

/** What organizations see of their keys, mails and build hook: request log, suppressed addresses, a second secret. */
export class Activity1763600000018 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Requests of the last days, written in batches (record_requests) and trimmed (trim_request_log). One index serves the
      -- list, all its filters and the trimming: a second one would double what a row costs. Without foreign keys for the same
      -- reason: record_requests takes the organization from the key. The lengths bound a row to 600 bytes, index included.
      CREATE TABLE request_log (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        method text NOT NULL CHECK (octet_length(method) <= 16),
        route text CHECK (octet_length(route) <= 128),
        status integer NOT NULL,
        duration_ms double precision NOT NULL,
        request_id text NOT NULL CHECK (octet_length(request_id) <= 128),
        created_at timestamptz(3) NOT NULL,
        PRIMARY KEY (organization_id, created_at, id) INCLUDE (api_key_id, route, method, status)
      );

      -- Whose mail to a suppressed address was refused or held back: they may see the suppression and lift it.
      CREATE TABLE suppression_senders (
        organization_id uuid NOT NULL REFERENCES organizations,
        email_normalized text NOT NULL REFERENCES suppressions ON DELETE CASCADE,
        PRIMARY KEY (organization_id, email_normalized)
      );

      -- trusted: set by the operator, and may point into the operator's own network. Two secrets sign while one is replaced.
      ALTER TABLE rebuild_hooks ADD COLUMN trusted boolean NOT NULL DEFAULT false,
        ADD COLUMN previous_secret bytea, ADD COLUMN previous_until timestamptz(3),
        ADD CHECK ((previous_secret IS NULL) = (previous_until IS NULL));
      SET LOCAL app.maintenance = 'on';
      UPDATE rebuild_hooks SET trusted = true;
      INSERT INTO suppression_senders SELECT DISTINCT o.organization_id, s.email_normalized
        FROM suppressions s JOIN outbox o ON lower(o.recipient) = s.email_normalized
        WHERE o.status = 'suppressed' AND o.organization_id IS NOT NULL;
      SET LOCAL app.maintenance = '';
    `);
    await secureTable(runner, 'request_log');
    await secureTable(runner, 'suppression_senders');
    await runner.query(/* sql */ `
      -- Requests of several organizations at once. Whose a row is, its key says, not the caller. A batch that is sent twice
      -- is stored once.
      CREATE FUNCTION record_requests(requests json) RETURNS void LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        INSERT INTO request_log (id, organization_id, api_key_id, method, route, status, duration_ms, request_id, created_at)
        SELECT r.id, k.organization_id, k.id, r.method, r.route, r.status, r.ms, r."requestId", to_timestamp(r.at / 1000)
        FROM json_to_recordset(requests) AS r (id uuid, at double precision, "keyId" uuid, method text, route text,
          status integer, ms double precision, "requestId" text)
        JOIN api_keys k ON k.id = r."keyId"
        ON CONFLICT DO NOTHING
      $$;

      -- Keeps 7 days, and of those about the newest 100,000 rows of each organization (some 40 MB): a batch of organizations
      -- whose ids are greater, 20,000 rows at most. next is where the next call begins; null after the last organization.
      CREATE FUNCTION trim_request_log(beyond uuid) RETURNS TABLE (next uuid, rows bigint)
        LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        WITH batch AS MATERIALIZED (
            SELECT id FROM organizations WHERE id > beyond ORDER BY id LIMIT 20),
          kept AS MATERIALIZED (
            SELECT b.id, greatest(now() - interval '7 days', (SELECT r.created_at FROM request_log r
              WHERE r.organization_id = b.id ORDER BY r.created_at DESC, r.id DESC OFFSET 100000 LIMIT 1)) AS since
            FROM batch b),
          trimmed AS (DELETE FROM request_log WHERE ctid = ANY (ARRAY(
            SELECT old.row FROM kept k CROSS JOIN LATERAL (SELECT r.ctid AS row FROM request_log r
              WHERE r.organization_id = k.id AND r.created_at <= k.since LIMIT 20000) old LIMIT 20000)) RETURNING 1)
        SELECT CASE WHEN count(*) = 20000 THEN beyond ELSE (SELECT b.id FROM batch b ORDER BY b.id DESC LIMIT 1) END,
          count(*) FROM trimmed
      $$;

      -- Suppresses an address; without a reason only notes that it held back a mail of the sender.
      DROP FUNCTION suppress_address(text, text);
      CREATE FUNCTION suppress_address(address text, why text, sender uuid DEFAULT NULL) RETURNS void
        LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        IF why IS NOT NULL THEN
          INSERT INTO suppressions (email_normalized, reason) VALUES (address, why) ON CONFLICT DO NOTHING;
        END IF;
        IF sender IS NOT NULL THEN
          INSERT INTO suppression_senders SELECT sender, s.email_normalized FROM suppressions s
          WHERE s.email_normalized = address ON CONFLICT DO NOTHING;
        END IF;
      END $$;
      -- Of the organization's own mails.
      CREATE FUNCTION own_suppressions() RETURNS TABLE (address text, reason text, created_at timestamptz)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT s.email_normalized, s.reason, s.created_at FROM suppression_senders t JOIN suppressions s USING (email_normalized)
        WHERE t.organization_id = current_organization_id() ORDER BY s.created_at DESC, s.email_normalized
      $$;
      -- Lifts a suppression for everybody, at the word of an organization whose own mail it holds back: false otherwise.
      CREATE FUNCTION allow_address(wanted text) RETURNS boolean LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM suppressions s USING suppression_senders t
        WHERE s.email_normalized = wanted AND t.email_normalized = wanted AND t.organization_id = current_organization_id();
        RETURN FOUND;
      END $$;

      CREATE FUNCTION retry_own_outbox(message uuid) RETURNS boolean LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        SELECT coalesce((SELECT retry_outbox(id) FROM outbox WHERE id = message AND ${MINE}), false)
      $$;

      DROP FUNCTION rebuild_hook(text);
      CREATE FUNCTION rebuild_hook(wanted text)
        RETURNS TABLE (url text, secret bytea, previous_secret bytea, trusted boolean)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT h.url, h.secret, CASE WHEN h.previous_until > now() THEN h.previous_secret END, h.trusted
        FROM rebuild_hooks h WHERE h.target = wanted
      $$;
      CREATE FUNCTION forget_previous_secrets() RETURNS void LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        UPDATE rebuild_hooks SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= now()
      $$;
      REVOKE ALL ON FUNCTION record_requests, trim_request_log, suppress_address, own_suppressions, allow_address,
        retry_own_outbox, rebuild_hook, forget_previous_secrets FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION forget_previous_secrets, rebuild_hook, retry_own_outbox, own_suppressions, allow_address, suppress_address,
        trim_request_log, record_requests;
      CREATE FUNCTION rebuild_hook(wanted text) RETURNS TABLE (url text, secret bytea)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT h.url, h.secret FROM rebuild_hooks h WHERE h.target = wanted
      $$;
      CREATE FUNCTION suppress_address(address text, why text) RETURNS void LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        INSERT INTO suppressions (email_normalized, reason) VALUES (address, why) ON CONFLICT DO NOTHING
      $$;
      REVOKE ALL ON FUNCTION rebuild_hook, suppress_address FROM PUBLIC;
      ALTER TABLE rebuild_hooks DROP COLUMN trusted, DROP COLUMN previous_secret, DROP COLUMN previous_until;
      DROP TABLE suppression_senders, request_log;
    `);
  }
}
