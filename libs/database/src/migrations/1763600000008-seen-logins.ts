import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As in the migrations before: the rights of the owner, see row security. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;
const MINE = `organization_id = current_organization_id()`;

/** Tables whose rows show a login to their organization, and the SQL expression of the login; null shows none. */
const TIES = { members: 'user_id', parents: 'user_id', session_feedback: 'reviewer_id' };

/**
 * Which logins an organization sees, in one place: the policy on users looks once for each row, where it looked into up
 * to three tables, whose policies were planned with it each time.
 */
export class SeenLogins1763600000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- ties: the rows of the table \`source\` that show the login. No foreign keys: those rows have them.
      CREATE TABLE organization_logins (
        organization_id uuid NOT NULL,
        user_id uuid NOT NULL,
        source text NOT NULL,
        ties integer NOT NULL CHECK (ties >= 0),
        PRIMARY KEY (organization_id, user_id, source)
      );
      ALTER TABLE organization_logins ENABLE ROW LEVEL SECURITY;
      ALTER TABLE organization_logins FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON organization_logins USING (${MINE}) WITH CHECK (${MINE});
      CREATE POLICY upkeep ON organization_logins TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});

      -- The trigger's argument is the SQL expression of a row's login.
      CREATE FUNCTION tie_logins() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE
        changed text := CASE TG_OP
          WHEN 'INSERT' THEN 'SELECT *, 1 AS n FROM after'
          WHEN 'DELETE' THEN 'SELECT *, -1 AS n FROM before'
          WHEN 'UPDATE' THEN 'SELECT *, 1 AS n FROM after UNION ALL SELECT *, -1 FROM before' END;
        changes organization_logins[];
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          DELETE FROM organization_logins WHERE source = TG_TABLE_NAME;
          RETURN NULL;
        END IF;
        -- In order, so that of two transactions one waits and none is in the other's way.
        EXECUTE format(
          'SELECT array_agg(ROW (organization_id, login, %L, n)::organization_logins ORDER BY organization_id, login)
           FROM (SELECT organization_id, %s AS login, sum(n) AS n FROM (%s) r GROUP BY 1, 2 HAVING sum(n) <> 0) c
           WHERE organization_id IS NOT NULL AND login IS NOT NULL',
          TG_TABLE_NAME, TG_ARGV[0], changed) INTO changes;
        IF changes IS NULL THEN
          RETURN NULL;
        END IF;
        INSERT INTO organization_logins AS l SELECT * FROM unnest(changes) WHERE ties > 0
          ON CONFLICT (organization_id, user_id, source) DO UPDATE SET ties = l.ties + excluded.ties;
        IF TG_OP <> 'INSERT' THEN
          UPDATE organization_logins l SET ties = l.ties + c.ties FROM unnest(changes) c
            WHERE (l.organization_id, l.user_id, l.source) = (c.organization_id, c.user_id, c.source) AND c.ties < 0;
          DELETE FROM organization_logins l USING unnest(changes) c
            WHERE (l.organization_id, l.user_id, l.source) = (c.organization_id, c.user_id, c.source) AND l.ties = 0;
        END IF;
        RETURN NULL;
      END $$;
      REVOKE EXECUTE ON FUNCTION tie_logins FROM PUBLIC;
      SET LOCAL app.maintenance = 'on';
    `);
    for (const [table, login] of Object.entries(TIES)) {
      const call = `FOR EACH STATEMENT EXECUTE FUNCTION tie_logins($$${login}$$)`;
      await runner.query(/* sql */ `
        CREATE TRIGGER tie_logins_on_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS after ${call};
        CREATE TRIGGER tie_logins_on_update AFTER UPDATE ON ${table}
          REFERENCING OLD TABLE AS before NEW TABLE AS after ${call};
        CREATE TRIGGER tie_logins_on_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS before ${call};
        CREATE TRIGGER tie_logins_on_truncate AFTER TRUNCATE ON ${table} ${call};
        INSERT INTO organization_logins SELECT organization_id, ${login}, '${table}', count(*) FROM ${table}
          WHERE organization_id IS NOT NULL AND ${login} IS NOT NULL GROUP BY 1, 2;
      `);
    }
    await runner.query(/* sql */ `
      SET LOCAL app.maintenance = '';
      ALTER POLICY tenant ON users USING ((SELECT true FROM organization_logins v
        WHERE v.organization_id = current_organization_id() AND v.user_id = users.id LIMIT 1));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    const using = Object.entries(TIES).map(
      ([table, login]) => `EXISTS (SELECT FROM ${table} v
        WHERE v.organization_id = current_organization_id() AND v.${login} = users.id)`,
    );
    await runner.query(/* sql */ `
      ALTER POLICY tenant ON users USING (${using.join(' OR ')});
      DROP FUNCTION tie_logins CASCADE;
      DROP TABLE organization_logins;
    `);
  }
}
