import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** People may change their own names. */
export class OwnNames1763600000027 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Changes the names of whoever has this session, with an audit row in each organization that shows them: those that the
      -- person has accepted. The others go on showing what they supplied. False when the session is over.
      CREATE FUNCTION change_name(secret bytea, first text, last text, request text) RETURNS boolean
        LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE login uuid := (SELECT s.user_id FROM portal_session(secret) s);
      BEGIN
        UPDATE users u SET first_name = first, last_name = last
          WHERE u.id = login AND (u.first_name, u.last_name) IS DISTINCT FROM (first, last);
        IF FOUND THEN
          INSERT INTO audit_log (id, organization_id, user_id, operation, request_id, status, result, details)
            SELECT gen_random_uuid(), t.organization_id, login, 'change_name', request, 200, 'done',
              json_build_object('user_id', login)
            FROM (SELECT m.organization_id FROM members m WHERE m.user_id = login AND m.status = 'accepted'
              UNION SELECT p.organization_id FROM parents p WHERE p.user_id = login AND p.status = 'accepted') t;
        END IF;
        RETURN login IS NOT NULL;
      END $$;
      REVOKE EXECUTE ON FUNCTION change_name FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION change_name');
  }
}
