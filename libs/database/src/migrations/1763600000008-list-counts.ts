import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;
const MINE = `organization_id = current_organization_id()`;

/**
 * Tables whose rows are counted, each with the SQL expression for a row's list. Rows whose list is null do not count.
 * Counters are named `<table>:<list>`.
 */
const COUNTED = {
  members: `role`,
  tutor_profiles: `CASE WHEN is_published THEN 'published' ELSE 'unpublished' END`,
  parents: `CASE WHEN enrolled_at IS NOT NULL THEN 'enrolled' END`,
};

/** The correct values of the counters. */
const ACTUAL = Object.entries(COUNTED)
  .map(
    ([table, list]) => `SELECT organization_id, '${table}:' || ${list} AS list, count(*) AS n
      FROM ${table} WHERE ${list} IS NOT NULL GROUP BY 1, 2`,
  )
  .join('\n UNION ALL ');

/**
 * The number of rows in each list, without counting them. Exact in every snapshot, because counters change in the same
 * transaction as the rows.
 *
 * A counter is the sum of a few rows. A writer updates a row that no other transaction has locked or inserts a new one,
 * so writers never wait for each other. The number of rows is the highest number of concurrent writers so far.
 */
export class ListCounts1763600000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- fillfactor: updates stay on their page, where the next one removes the versions that nobody sees.
      CREATE TABLE list_counts (
        organization_id uuid NOT NULL REFERENCES organizations,
        list text NOT NULL,
        slot uuid NOT NULL DEFAULT gen_random_uuid(),
        delta integer NOT NULL,
        PRIMARY KEY (organization_id, list, slot)
      ) WITH (fillfactor = 50);
      ALTER TABLE list_counts ENABLE ROW LEVEL SECURITY;
      ALTER TABLE list_counts FORCE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON list_counts USING (${MINE}) WITH CHECK (${MINE});
      CREATE POLICY upkeep ON list_counts TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});

      -- The trigger's argument is the SQL expression of a row's list.
      CREATE FUNCTION count_in_lists() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      DECLARE
        changed text := CASE TG_OP
          WHEN 'INSERT' THEN 'SELECT *, 1 AS n FROM after'
          WHEN 'DELETE' THEN 'SELECT *, -1 AS n FROM before'
          WHEN 'UPDATE' THEN 'SELECT *, 1 AS n FROM after UNION ALL SELECT *, -1 FROM before' END;
        change record;
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          DELETE FROM list_counts WHERE starts_with(list, TG_TABLE_NAME || ':');
          RETURN NULL;
        END IF;
        FOR change IN EXECUTE format(
          'SELECT organization_id, %L || %s AS list, sum(n) AS n FROM (%s) r GROUP BY 1, 2 HAVING sum(n) <> 0',
          TG_TABLE_NAME || ':', TG_ARGV[0], changed)
        LOOP
          CONTINUE WHEN change.list IS NULL;
          UPDATE list_counts SET delta = delta + change.n
          WHERE organization_id = change.organization_id AND list = change.list AND slot = (
            SELECT slot FROM list_counts WHERE organization_id = change.organization_id AND list = change.list
            LIMIT 1 FOR UPDATE SKIP LOCKED);
          IF NOT FOUND THEN
            INSERT INTO list_counts (organization_id, list, delta)
            VALUES (change.organization_id, change.list, change.n);
          END IF;
        END LOOP;
        RETURN NULL;
      END $$;

      -- Counters that are not what they have to be, for the operator; one statement, so one snapshot.
      CREATE FUNCTION wrong_list_counts(most integer)
        RETURNS TABLE (organization_id uuid, list text, counter bigint, actual bigint)
        LANGUAGE sql STABLE ${AS_MAINTENANCE} AS $$
        SELECT organization_id, list, coalesce(c.n, 0), coalesce(a.n, 0)
        FROM (SELECT organization_id, list, sum(delta) AS n FROM list_counts GROUP BY 1, 2) c
        FULL JOIN (${ACTUAL}) a USING (organization_id, list)
        WHERE coalesce(c.n, 0) <> coalesce(a.n, 0) ORDER BY 1, 2 LIMIT most
      $$;

      -- Counts an organization anew; for the owner alone. The lock waits for the transactions that have counted already,
      -- and holds up the others until this one ends.
      CREATE FUNCTION recount_lists(organization uuid) RETURNS void LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        LOCK TABLE list_counts IN SHARE ROW EXCLUSIVE MODE;
        DELETE FROM list_counts WHERE organization_id = organization;
        INSERT INTO list_counts (organization_id, list, delta)
        SELECT organization_id, list, n FROM (${ACTUAL}) a WHERE organization_id = organization;
      END $$;
      REVOKE ALL ON FUNCTION count_in_lists, wrong_list_counts, recount_lists FROM PUBLIC;
    `);
    for (const [table, list] of Object.entries(COUNTED)) {
      const call = `FOR EACH STATEMENT EXECUTE FUNCTION count_in_lists($$${list}$$)`;
      await runner.query(/* sql */ `
        CREATE TRIGGER count_on_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS after ${call};
        CREATE TRIGGER count_on_update AFTER UPDATE ON ${table}
          REFERENCING OLD TABLE AS before NEW TABLE AS after ${call};
        CREATE TRIGGER count_on_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS before ${call};
        CREATE TRIGGER count_on_truncate AFTER TRUNCATE ON ${table} ${call};
      `);
    }
    // Creating the triggers has locked out writers until this transaction ends, so this counts every row.
    await runner.query(`
      SET LOCAL app.maintenance = 'on';
      INSERT INTO list_counts (organization_id, list, delta) ${ACTUAL};
      SET LOCAL app.maintenance = '';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION count_in_lists, wrong_list_counts, recount_lists CASCADE;
      DROP TABLE list_counts;
    `);
  }
}
