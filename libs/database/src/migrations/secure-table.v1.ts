import type { QueryRunner } from 'typeorm';

const MINE = 'organization_id = current_organization_id()';

/** Inside the owner's functions, and where the owner asks for it by name. */
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

/**
 * Secures a new table: a transaction sees and writes the rows of the organization that it named, and none when it named
 * none. Call it in the migration that creates the table.
 *
 * Frozen: merged migrations call it. For other rules, write secure-table.v2.ts.
 *
 * @param rule SQL of the rows in question, where that is not "those of the organization"
 */
export async function secureTable(runner: QueryRunner, table: string, rule = MINE): Promise<void> {
  await runner.query(/* sql */ `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${table} USING (${rule}) WITH CHECK (${rule});
    CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});
  `);
}
