import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** A code from libs/jobs/src/problems.ts, never text from a server or a library. */
const CODE = `'^[a-z][a-z0-9_]{0,63}$'`;

/**
 * Functions that serve all organizations limit what callers may ask for. Failures are stored as codes. Build hook URLs
 * contain no credentials. grants.ts lists who may run which function.
 */
export class Roles1763600000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Takes due messages for a while: they are due again when the lease is over, behind what waits by then. A worker that
      -- dies loses its lease to the next one. Materialized: a join must not look for due rows once more.
      CREATE OR REPLACE FUNCTION claim_outbox(wanted text, worker text, most integer, lease interval) RETURNS SETOF outbox
        LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        IF lease <= interval '0' OR lease > interval '5 minutes' OR most NOT BETWEEN 1 AND 1000 THEN
          RAISE 'a lease of % on % messages is out of bounds', lease, most USING ERRCODE = 'invalid_parameter_value';
        END IF;
        RETURN QUERY WITH due AS MATERIALIZED (
          SELECT id FROM outbox WHERE topic = wanted AND status IN ('queued', 'failed') AND due_at <= now()
          ORDER BY due_at LIMIT most FOR UPDATE SKIP LOCKED)
        UPDATE outbox o SET leased_by = worker, leased_until = now() + lease, due_at = now() + lease,
          attempts = o.attempts + 1
        FROM due WHERE o.id = due.id RETURNING o.*;
      END $$;

      -- Ends a try: false when the lease was lost to another worker, and with it the right to say how it ended.
      CREATE OR REPLACE FUNCTION finish_outbox(message uuid, worker text, outcome text, problem text, again_in interval)
        RETURNS boolean LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        IF outcome NOT IN ('sent', 'failed', 'dead', 'suppressed') OR again_in > interval '1 day' THEN
          RAISE 'a try cannot end as % for %', outcome, again_in USING ERRCODE = 'invalid_parameter_value';
        END IF;
        UPDATE outbox SET status = outcome, last_error = problem, due_at = coalesce(now() + again_in, due_at),
          leased_by = NULL, leased_until = NULL,
          finished_at = CASE WHEN outcome IN ('sent', 'dead', 'suppressed') THEN now() END
        WHERE id = message AND leased_by = worker;
        RETURN FOUND;
      END $$;

      CREATE OR REPLACE FUNCTION due_posts(most integer) RETURNS TABLE (id uuid, organization_id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT p.id, p.organization_id FROM blog_posts p
        WHERE p.scheduled_at <= now() AND p.status = 'draft' ORDER BY p.scheduled_at LIMIT least(most, 1000)
      $$;
      CREATE OR REPLACE FUNCTION organizations_without_codes(most integer) RETURNS SETOF uuid
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT o.id FROM organizations o WHERE (SELECT count(*) FROM invites i
          WHERE i.organization_id = o.id AND i.standing AND i.revoked_at IS NULL) < 2 LIMIT least(most, 1000)
      $$;
      CREATE OR REPLACE FUNCTION list_outbox(wanted text, named uuid, most integer) RETURNS SETOF outbox
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT * FROM outbox WHERE (wanted IS NULL OR status = wanted) AND (named IS NULL OR id = named)
        ORDER BY created_at DESC, id DESC LIMIT least(most, 10000)
      $$;

      -- Deletes what is kept no longer: answers past their time, messages finished 30 days ago (what is dead by then carries
      -- a link that has expired), invites 30 days past theirs, so that whoever opens one late is told so. 5,000 rows of each
      -- at most, so that no call takes long; locked rows are left for the next one. Nothing of it is the caller's choice.
      DROP FUNCTION purge_expired(interval, interval, integer);
      CREATE FUNCTION purge_expired() RETURNS TABLE (what text, rows bigint)
        LANGUAGE sql VOLATILE ${AS_MAINTENANCE} AS $$
        WITH keys AS (DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys
            WHERE expires_at < now() LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
          messages AS (DELETE FROM outbox WHERE ctid = ANY (ARRAY(SELECT ctid FROM outbox
            WHERE finished_at < now() - interval '30 days' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1),
          old AS (DELETE FROM invites WHERE ctid = ANY (ARRAY(SELECT ctid FROM invites
            WHERE NOT standing AND expires_at < now() - interval '30 days' LIMIT 5000 FOR UPDATE SKIP LOCKED)) RETURNING 1)
        SELECT 'idempotency_keys', count(*) FROM keys UNION ALL SELECT 'outbox', count(*) FROM messages
        UNION ALL SELECT 'invites', count(*) FROM old
      $$;
      REVOKE ALL ON FUNCTION purge_expired FROM PUBLIC;

      -- Texts of earlier versions may repeat what a server said. The owner sees all organizations' rows for this once.
      SELECT set_config('app.maintenance', 'on', true);
      UPDATE outbox SET last_error = CASE
        WHEN last_error ~ '^HTTP \\d{3}$' THEN 'http_' || right(last_error, 3)
        WHEN last_error = 'the address refused mail for good' THEN 'address_suppressed'
        WHEN last_error = 'its link opens nothing any more' THEN 'link_closed'
        WHEN last_error = 'no hook is set: nobody to tell' THEN 'no_hook'
        ELSE 'unknown' END
      WHERE last_error IS NOT NULL;
      UPDATE suppressions SET reason = coalesce('smtp_' || substring(reason FROM '\\m5\\d\\d\\M'), 'unknown');
      SELECT set_config('app.maintenance', 'off', true);
    `);
    // A separate query, because a table cannot be altered in the query that has just changed its rows.
    await runner.query(/* sql */ `
      ALTER TABLE outbox ADD CONSTRAINT outbox_last_error_code CHECK (last_error ~ ${CODE});
      ALTER TABLE suppressions ADD CONSTRAINT suppressions_reason_code CHECK (reason ~ ${CODE});
      -- Hooks that are there already and have credentials never worked: no request is sent to such an address.
      ALTER TABLE rebuild_hooks ADD CONSTRAINT rebuild_hooks_no_credentials CHECK (url !~ '^[a-z]+://[^/?#]*@') NOT VALID;
      -- What an organization has mailed lately.
      CREATE INDEX outbox_mails ON outbox (organization_id, created_at) INCLUDE (recipient) WHERE topic = 'email';
    `);
  }

  /** Keeps the limits, because the previous version stays within them. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP INDEX outbox_mails;
      ALTER TABLE rebuild_hooks DROP CONSTRAINT rebuild_hooks_no_credentials;
      ALTER TABLE suppressions DROP CONSTRAINT suppressions_reason_code;
      ALTER TABLE outbox DROP CONSTRAINT outbox_last_error_code;
      DROP FUNCTION purge_expired();
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
      REVOKE ALL ON FUNCTION purge_expired FROM PUBLIC;
    `);
  }
}
