import type { MigrationInterface } from 'typeorm';
import { DataSource } from 'typeorm';
import { Schema1763600000030 } from '../../libs/database/src/migrations/1763600000030-schema.js';
import { migrations } from '../../libs/database/src/migrations/index.js';
import { grantRoles } from '../../libs/database/src/roles.js';
import { createEmptyDatabase } from '../support/database/database.js';

/** Everything in the catalogue that migrations create, one line for each fact. Spacing and comments do not count. */
const FINGERPRINT = `
  SELECT regexp_replace(regexp_replace(regexp_replace(line, '--[^\\n]*', '', 'g'), '\\s+', ' ', 'g'), '(?<=\\() | (?=\\))', '', 'g')
    AS line FROM (
  SELECT 'table ' || concat_ws(' ', relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions,
    pg_get_userbyid(relowner), relacl, obj_description(oid, 'pg_class')) AS line
  FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^migrations|^PK_'
  UNION ALL SELECT 'column ' || concat_ws(' ', c.relname, rank() OVER (PARTITION BY c.oid ORDER BY attnum), attname, format_type(atttypid, atttypmod), attnotnull,
    attgenerated, attidentity, pg_get_expr(adbin, adrelid), attacl, col_description(c.oid, attnum))
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0 AND NOT attisdropped AND relnamespace = 'public'::regnamespace AND relkind = 'r'
  -- A new table has no rows to look at, so the constraint without a look at old ones is a plain one.
  UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || condeferrable || condeferred
    || replace(pg_get_constraintdef(oid), ' NOT VALID', '')
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT 'function ' || pg_get_functiondef(oid) || concat_ws(' ', pg_get_userbyid(proowner), proacl, procost)
  FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'policy ' || concat_ws(' ', tablename, policyname, permissive, roles::text, cmd, qual, '|', with_check)
  FROM pg_policies
  UNION ALL SELECT 'other ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype <> 'c' AND typelem = 0
  UNION ALL SELECT 'other ' || extname FROM pg_extension
  UNION ALL SELECT 'other ' || nspname FROM pg_namespace WHERE nspname !~ '^pg_') facts ORDER BY 1`;

async function fingerprint(list: (new () => MigrationInterface)[]): Promise<string[]> {
  const database = await createEmptyDatabase();
  const owner = new DataSource({
    type: 'postgres',
    url: database.ownerUrl,
    migrations: list,
    installExtensions: false,
  });
  await owner.initialize();
  try {
    await owner.runMigrations({ transaction: 'each' });
    await grantRoles(owner, database.processUrls);
    return (await owner.query<{ line: string }[]>(FINGERPRINT)).map(({ line }) => line);
  } finally {
    await owner.destroy();
    await database.drop();
  }
}

it('the schema files make what the migrations made', async () => {
  const [before, after] = [await fingerprint(migrations), await fingerprint([Schema1763600000030])];
  expect(before.length).toBeGreaterThan(1000);
  expect(after).toEqual(before);
});
