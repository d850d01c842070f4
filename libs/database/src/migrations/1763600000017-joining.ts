import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** For the pages on joining and people: limits on guesses, and the sort order of people and invites. */
export class Joining1763600000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- The last attempt turned out right and is not to count. The earlier ones stay: whoever knows one right answer could
      -- guess at others for ever, if that forgave the wrong ones.
      CREATE FUNCTION give_back_attempt(whose bytea) RETURNS void LANGUAGE sql ${AS_MAINTENANCE} AS $$
        UPDATE sign_in_attempts SET attempts = attempts - 1
        WHERE subject = whose AND attempts > 0
          AND minute = (SELECT max(minute) FROM sign_in_attempts WHERE subject = whose AND attempts > 0)
      $$;

      -- closed: it opens nothing any more. A code that is closed is answered like one that never was, without a further look.
      DROP FUNCTION invite_by_hash;
      CREATE FUNCTION invite_by_hash(hash bytea) RETURNS TABLE (id uuid, organization_id uuid, closed boolean)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT i.id, i.organization_id,
          i.revoked_at IS NOT NULL OR i.accepted_at IS NOT NULL OR coalesce(i.expires_at <= now(), false)
        FROM invites i WHERE i.secret_hash = hash
      $$;
      REVOKE ALL ON FUNCTION give_back_attempt, invite_by_hash FROM PUBLIC;

      CREATE INDEX members_status_keyset ON members (organization_id, status, created_at, user_id) INCLUDE (role);
      CREATE INDEX members_waiting ON members (organization_id, approval_requested_at, user_id)
        WHERE approval_requested_at IS NOT NULL;
      CREATE INDEX invites_open ON invites (organization_id, created_at, id)
        WHERE accepted_at IS NULL AND revoked_at IS NULL AND scope <> 'account';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      DROP INDEX invites_open, members_waiting, members_status_keyset;
      DROP FUNCTION invite_by_hash, give_back_attempt;
      CREATE FUNCTION invite_by_hash(hash bytea) RETURNS TABLE (id uuid, organization_id uuid)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT i.id, i.organization_id FROM invites i WHERE i.secret_hash = hash
      $$;
      REVOKE ALL ON FUNCTION invite_by_hash FROM PUBLIC;
    `);
  }
}
