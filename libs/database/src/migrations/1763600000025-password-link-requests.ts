import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

/**
 * Requests for a link by mail. The portal records the address that was entered, without looking it up, before it
 * answers: known and unknown addresses take the same work, and a crash loses no request. The worker looks the address
 * up a moment later.
 */
export class PasswordLinkRequests1763600000025 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE TABLE password_link_requests (
        -- Becomes the id of the mail.
        id uuid PRIMARY KEY,
        -- Whatever was entered. The row is deleted with the look-up.
        email_normalized text NOT NULL CHECK (length(email_normalized) <= 320),
        -- Whether only a login whose address is not proven gets a link.
        confirms boolean NOT NULL,
        secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
        content bytea NOT NULL CHECK (octet_length(content) <= 10000),
        requested_at timestamptz(3) NOT NULL DEFAULT now(),
        -- Of the link.
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX password_link_requests_age ON password_link_requests (requested_at, id);
      ALTER TABLE password_link_requests ENABLE ROW LEVEL SECURITY;
      ALTER TABLE password_link_requests FORCE ROW LEVEL SECURITY;
      CREATE POLICY upkeep ON password_link_requests TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});

      -- Tells nothing about the address. While no worker runs, requests are kept for an hour.
      CREATE FUNCTION request_password_link(mail uuid, address text, secret bytea, life interval, content bytea,
        confirms boolean) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
          WHERE o.requested_at <= now() - interval '1 hour' LIMIT 100 FOR UPDATE SKIP LOCKED));
        INSERT INTO password_link_requests (id, email_normalized, confirms, secret_hash, content, expires_at)
          VALUES (mail, address, confirms, secret, content, now() + life);
        PERFORM pg_notify('outbox', 'passwordLinks');
      END $$;

      -- Deletes the oldest requests, and mails the logins among them. The link's time began with the request.
      CREATE FUNCTION resolve_password_links() RETURNS integer LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE request password_link_requests; resolved integer := 0;
      BEGIN
        FOR request IN DELETE FROM password_link_requests r WHERE r.id = ANY (ARRAY(SELECT o.id FROM password_link_requests o
          ORDER BY o.requested_at, o.id LIMIT 100 FOR UPDATE SKIP LOCKED)) RETURNING r.* LOOP
          resolved := resolved + 1;
          IF request.expires_at > now() AND request.requested_at > now() - interval '1 hour' THEN
            PERFORM mail_password_link(request.email_normalized, request.secret_hash,
              request.expires_at - now(), request.id, request.content, request.confirms);
          END IF;
        END LOOP;
        RETURN resolved;
      END $$;

      REVOKE EXECUTE ON FUNCTION request_password_link, resolve_password_links FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP FUNCTION request_password_link, resolve_password_links;
      DROP TABLE password_link_requests;
    `);
  }
}
