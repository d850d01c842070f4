import type { Factories } from './factories.js';

/** Longest first: each column takes the first of these that its CHECKs and indexes let in (characters, or array items). */
const LENGTHS = [20_000, 2_000, 250, 50];

interface TextColumn {
  table: string;
  name: string;
  type: 'text' | 'ARRAY' | 'jsonb';
}

/** Values of each kind; what a row has of its own keeps them apart where they must be unique. */
const VALUES: Record<TextColumn['type'], (length: number) => string> = {
  text: (length) => `left(md5(ctid::text) || repeat('"', ${length}), ${length})`,
  ARRAY: (length) => `array_fill('"quoted"'::text, ARRAY[${length / 10}])`,
  jsonb: (length) => `jsonb_build_array(repeat('"', ${length}))`,
};

/** Makes every text of every row as long as the schema lets it be. Returns the columns that became long. */
export async function lengthenTexts(make: Factories): Promise<string[]> {
  const columns = await make.query<TextColumn>(`
    SELECT table_name AS "table", column_name AS name, data_type AS type FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'
      AND (data_type IN ('text', 'jsonb') OR udt_name = '_text')
      AND table_name NOT IN ('migrations', 'api_keys', 'organizations', 'outbox', 'invites') ORDER BY 1, 2`);
  const long: string[] = [];
  for (const { table, name, type } of columns) {
    for (const length of LENGTHS) {
      const value = VALUES[type](length);
      // Without triggers: the rows keep what was derived of them.
      const done = await make
        .query(
          `DO $$ BEGIN SET LOCAL session_replication_role = replica; UPDATE ${table} SET ${name} = ${value}; END $$`,
        )
        .then(() => true)
        .catch(() => false);
      if (!done) continue;
      if (length > 250) long.push(`${table}.${name}`);
      break;
    }
  }
  return long;
}
