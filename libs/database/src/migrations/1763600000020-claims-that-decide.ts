import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** A mail's row has its address and its link's expiry, so that the claim can decide whether to send it. */
export class ClaimsThatDecide1763600000020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- email_normalized: a mail's recipient as addresses are compared. link_expires_at: null for a mail without a link, and
      -- for a link that does not end.
      ALTER TABLE outbox ADD COLUMN email_normalized text, ADD COLUMN link_expires_at timestamptz(3);
    `);
    await runner.query(`SELECT set_config('app.maintenance', 'on', true)`);
    await runner.query(/* sql */ `
      UPDATE outbox SET email_normalized = lower(recipient), link_expires_at = CASE kind
          WHEN 'password_reset' THEN created_at + interval '1 hour' WHEN 'owner_welcome' THEN created_at + interval '7 days'
          ELSE (SELECT i.expires_at FROM invites i WHERE i.id = outbox.invite_id) END
        WHERE topic = 'email'`);
    // The database's lower() may only handle ASCII.
    const others = (await runner.query(/* sql */ `
      SELECT DISTINCT recipient FROM outbox WHERE topic = 'email' AND octet_length(recipient) <> char_length(recipient)
    `)) as { recipient: string }[];
    for (const { recipient } of others) {
      const change = `UPDATE outbox SET email_normalized = $1 WHERE topic = 'email' AND recipient = $2`;
      await runner.query(change, [recipient.toLowerCase(), recipient]);
    }
    await runner.query(`SELECT set_config('app.maintenance', 'off', true)`);
    await runner.query(/* sql */ `
      DROP INDEX outbox_mails;
      -- What an organization has mailed lately.
      CREATE INDEX outbox_mails ON outbox (organization_id, created_at) INCLUDE (email_normalized) WHERE topic = 'email';

      -- Takes due messages for a while: they are due again when the lease is over, behind what waits by then. A worker that
      -- dies loses its lease to the next one. A mail to a suppressed address, or whose link opens nothing any more, is
      -- suppressed instead, and returned as such. Materialized: a join must not look for due rows once more.
      CREATE OR REPLACE FUNCTION claim_outbox(wanted text, worker text, most integer, lease interval) RETURNS SETOF outbox
        LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        IF lease <= interval '0' OR lease > interval '5 minutes' OR most NOT BETWEEN 1 AND 1000 THEN
          RAISE 'a lease of % on % messages is out of bounds', lease, most USING ERRCODE = 'invalid_parameter_value';
        END IF;
        RETURN QUERY WITH due AS MATERIALIZED (
            SELECT id FROM outbox WHERE topic = wanted AND status IN ('queued', 'failed') AND due_at <= now()
            ORDER BY due_at LIMIT most FOR UPDATE SKIP LOCKED),
          claimed AS MATERIALIZED (
            SELECT o.id, o.organization_id, s.email_normalized, CASE
                WHEN s.email_normalized IS NOT NULL THEN 'address_suppressed'
                WHEN o.link_expires_at <= now() OR EXISTS (SELECT FROM closed_invites(array_remove(ARRAY[o.invite_id], NULL)))
                  THEN 'link_closed' END AS problem
            FROM due JOIN outbox o USING (id)
            -- Processes of the build before do not write email_normalized.
            LEFT JOIN suppressions s ON o.topic = 'email'
              AND s.email_normalized = coalesce(o.email_normalized, lower(o.recipient))),
          noted AS (
            INSERT INTO suppression_senders (organization_id, email_normalized)
            SELECT DISTINCT c.organization_id, c.email_normalized FROM claimed c
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

      ${mailPasswordLink(', email_normalized, link_expires_at', ', address, now() + life')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      ${mailPasswordLink()}
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
      DROP INDEX outbox_mails;
      ALTER TABLE outbox DROP COLUMN email_normalized, DROP COLUMN link_expires_at;
      CREATE INDEX outbox_mails ON outbox (organization_id, created_at) INCLUDE (recipient) WHERE topic = 'email';
    `);
  }
}

function mailPasswordLink(columns = '', values = ''): string {
  return /* sql */ `
      CREATE OR REPLACE FUNCTION mail_password_link(address text, secret bytea, life interval, mail uuid, content bytea)
        RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login users;
      BEGIN
        SELECT * INTO login FROM users WHERE email_normalized = address AND NOT placeholder_email;
        IF FOUND THEN
          PERFORM add_password_link(secret, login.id, life);
          INSERT INTO outbox (id, topic, kind, recipient, payload${columns})
            VALUES (mail, 'email', 'password_reset', login.email, content${values});
          PERFORM pg_notify('outbox', 'email');
        END IF;
      END $$;`;
}
