import type { QueryRunner } from 'typeorm';

const MINE = 'organization_id = current_organization_id()';

/** True inside the owner's functions, and if the owner turns it on. */
const MAINTENANCE = `current_setting('search_path') = 'public, maintenance, pg_temp'
  OR current_setting('app.maintenance', true) = 'on'`;

/**
 * Secures a new table: transactions see and write only rows of the organization that they name, and no rows if they
 * name none. Call it in the migration that creates the table.
 *
 * Frozen: merged migrations call it. For other rules, write secure-table.v2.ts.
 *
 * @param rule SQL condition for the rows; by default, that they belong to the organization
 */
export async function secureTable(runner: QueryRunner, table: string, rule = MINE): Promise<void> {
  await runner.query(/* sql */ `
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON ${table} USING (${rule}) WITH CHECK (${rule});
    CREATE POLICY upkeep ON ${table} TO CURRENT_USER USING (${MAINTENANCE}) WITH CHECK (${MAINTENANCE});
  `);
}
