import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lockNumber } from '../locks.js';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Owners of messages are served in turn, so that one's many messages delay no other's. */
export class FairClaims1763600000028 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Whose turn a message takes: its organization's, or for a rebuild that of the site whose hook is called. Mails
      -- about people's own accounts have no organization; together they are served like one.
      ALTER TABLE outbox ADD COLUMN owner text COLLATE "C" NOT NULL GENERATED ALWAYS AS (
        CASE topic WHEN 'rebuild' THEN recipient ELSE coalesce(organization_id::text, '') END) STORED;
      DROP INDEX outbox_due;
      CREATE INDEX outbox_turns ON outbox (topic, owner, due_at) WHERE status IN ('queued', 'failed');
      CREATE INDEX outbox_leased ON outbox (topic, owner) WHERE leased_until IS NOT NULL;

      DROP FUNCTION IF EXISTS claim_outbox;
      -- Leases a due message for a while: the oldest of the owner that has the fewest leased. It is due again when the
      -- lease is over; a worker that dies loses it to the next one. A mail to a suppressed address, or whose link opens
      -- nothing any more, is suppressed instead, and returned as such.
      --
      -- lanes: how many messages the worker can take, including this one. The last two are for owners with nothing leased:
      -- messages that stall hold up none but their owner's. A hook is only called again after the call before has ended.
      CREATE FUNCTION claim_outbox(wanted text, worker text, lanes integer, lease interval) RETURNS SETOF outbox
        LANGUAGE plpgsql VOLATILE ROWS 1 ${AS_MAINTENANCE} AS $$
      DECLARE turn text; message uuid;
      BEGIN
        IF lease <= interval '0' OR lease > interval '5 minutes' OR lanes < 1 THEN
          RAISE 'a lease of % for one of % lanes is out of bounds', lease, lanes USING ERRCODE = 'invalid_parameter_value';
        END IF;
        -- One claim at a time, so that each knows the leases before it.
        PERFORM pg_advisory_xact_lock(${lockNumber('claims of the outbox')});
        FOR turn IN
          -- One look into the index for each owner, however many messages it has.
          WITH RECURSIVE owners AS (
              (SELECT o.owner, o.due_at FROM outbox o WHERE o.topic = wanted AND o.status IN ('queued', 'failed')
                ORDER BY o.owner, o.due_at LIMIT 1)
              UNION ALL
              SELECT o.* FROM owners w, LATERAL (SELECT n.owner, n.due_at FROM outbox n WHERE n.topic = wanted
                AND n.status IN ('queued', 'failed') AND n.owner > w.owner ORDER BY n.owner, n.due_at LIMIT 1) o),
            leases AS (SELECT o.owner, count(*) AS held FROM outbox o
              WHERE o.topic = wanted AND o.leased_until > now() GROUP BY o.owner)
          SELECT w.owner FROM owners w LEFT JOIN leases l USING (owner)
          WHERE w.due_at <= now() AND (l.held IS NULL OR lanes > 2 AND wanted <> 'rebuild')
          ORDER BY coalesce(l.held, 0), w.due_at
        LOOP
          SELECT o.id INTO message FROM outbox o WHERE o.topic = wanted AND o.owner = turn
            AND o.status IN ('queued', 'failed') AND o.due_at <= now() ORDER BY o.due_at LIMIT 1 FOR UPDATE SKIP LOCKED;
          EXIT WHEN FOUND;
        END LOOP;
        RETURN QUERY WITH claimed AS MATERIALIZED (
            SELECT o.id, o.organization_id, s.email_normalized, CASE
                WHEN s.email_normalized IS NOT NULL THEN 'address_suppressed'
                WHEN o.link_expires_at <= now() OR EXISTS (SELECT FROM closed_invites(array_remove(ARRAY[o.invite_id], NULL)))
                  THEN 'link_closed' END AS problem
            FROM outbox o LEFT JOIN suppressions s ON s.email_normalized = o.email_normalized WHERE o.id = message),
          noted AS (
            INSERT INTO suppression_senders (organization_id, email_normalized)
            SELECT c.organization_id, c.email_normalized FROM claimed c
            WHERE c.organization_id IS NOT NULL AND c.email_normalized IS NOT NULL ON CONFLICT DO NOTHING)
        UPDATE outbox o SET attempts = o.attempts + 1,
          status = CASE WHEN c.problem IS NULL THEN o.status ELSE 'suppressed' END,
          last_error = coalesce(c.problem, o.last_error),
          finished_at = CASE WHEN c.problem IS NOT NULL THEN now() END,
          leased_by = CASE WHEN c.problem IS NULL THEN worker END,
          leased_until = CASE WHEN c.problem IS NULL THEN now() + lease END,
          due_at = CASE WHEN c.problem IS NULL THEN now() + lease ELSE o.due_at END
        FROM claimed c WHERE o.id = c.id RETURNING o.*;
      END $$;
      REVOKE ALL ON FUNCTION claim_outbox FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION claim_outbox;
      DROP INDEX outbox_turns, outbox_leased;
      ALTER TABLE outbox DROP COLUMN owner;
      CREATE INDEX outbox_due ON outbox (topic, due_at) WHERE status IN ('queued', 'failed');
    `);
  }
}
