import type { MigrationInterface, QueryRunner } from 'typeorm';

/** As in the migrations before: the rights of the owner, see row security. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;
const MINE = `organization_id = current_organization_id()`;

/** Tables whose rows show a login to their organization, and the SQL condition of those that do. */
const SHOWN_BY = { members: 'accepted_at IS NOT NULL', parents: 'accepted_at IS NOT NULL' };

const SEEN = `(SELECT true FROM organization_logins v
  WHERE v.organization_id = current_organization_id() AND v.user_id = users.id LIMIT 1)`;

/**
 * Which logins an organization sees, in one place: the policy on users looks once for each row. It looked into two tables,
 * whose own policies were planned with it for every page.
 */
export class SeenLogins1763600000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- source: the table whose row shows the login. No foreign keys: that row has them.
      CREATE TABLE organization_logins (
        organization_id uuid NOT NULL,
        user_id uuid NOT NULL,
        source text NOT NULL,
        PRIMARY KEY (organization_id, user_id, source)
      );
      ALTER TABLE organization_logins ENABLE ROW LEVEL SECURITY;
      ALTER TABLE organization_logins FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON organization_logins USING (${MINE}) WITH CHECK (${MINE});
      CREATE POLICY upkeep ON organization_logins TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});

      -- The trigger's argument is the SQL condition of rows that show their login.
      CREATE FUNCTION show_logins() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE
        changed text := CASE TG_OP
          WHEN 'INSERT' THEN 'SELECT *, 1 AS n FROM after'
          WHEN 'DELETE' THEN 'SELECT *, -1 AS n FROM before'
          WHEN 'UPDATE' THEN 'SELECT *, 1 AS n FROM after UNION ALL SELECT *, -1 FROM before' END;
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          DELETE FROM organization_logins WHERE source = TG_TABLE_NAME;
          RETURN NULL;
        END IF;
        EXECUTE format(
          'WITH changes AS (
             SELECT organization_id, user_id, sum(n) AS n FROM (%s) r WHERE %s GROUP BY 1, 2 HAVING sum(n) <> 0),
           hidden AS (
             DELETE FROM organization_logins l USING changes c WHERE c.n < 0
               AND (l.organization_id, l.user_id, l.source) = (c.organization_id, c.user_id, %L))
           INSERT INTO organization_logins (organization_id, user_id, source)
           SELECT organization_id, user_id, %3$L FROM changes WHERE n > 0',
          changed, TG_ARGV[0], TG_TABLE_NAME);
        RETURN NULL;
      END $$;
      REVOKE EXECUTE ON FUNCTION show_logins FROM PUBLIC;
      SET LOCAL app.maintenance = 'on';
    `);
    for (const [table, shows] of Object.entries(SHOWN_BY)) {
      const call = `FOR EACH STATEMENT EXECUTE FUNCTION show_logins('${shows}')`;
      await runner.query(/* sql */ `
        CREATE TRIGGER show_logins_on_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS after ${call};
        CREATE TRIGGER show_logins_on_update AFTER UPDATE ON ${table}
          REFERENCING OLD TABLE AS before NEW TABLE AS after ${call};
        CREATE TRIGGER show_logins_on_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS before ${call};
        CREATE TRIGGER show_logins_on_truncate AFTER TRUNCATE ON ${table} ${call};
        INSERT INTO organization_logins SELECT organization_id, user_id, '${table}' FROM ${table} WHERE ${shows};
      `);
    }
    await runner.query(/* sql */ `
      SET LOCAL app.maintenance = '';
      ALTER POLICY tenant ON users USING (${SEEN});
      ALTER POLICY tenant_changes ON users USING (${SEEN} AND NOT tied_elsewhere(id));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    const seen = Object.entries(SHOWN_BY).map(
      ([table, shows]) => `EXISTS (SELECT FROM ${table} v
        WHERE v.organization_id = current_organization_id() AND v.user_id = users.id AND v.${shows})`,
    );
    await runner.query(/* sql */ `
      ALTER POLICY tenant ON users USING (${seen.join(' OR ')});
      ALTER POLICY tenant_changes ON users USING ((${seen.join(' OR ')}) AND NOT tied_elsewhere(id));
      DROP FUNCTION show_logins CASCADE;
      DROP TABLE organization_logins;
    `);
  }
}
