import type { Factories } from './factories.js';

/** Lengths to try, in characters or array items. Each column gets the first that its CHECKs and indexes allow. */
const SHORTER = [5_000, 2_000, 250, 50];

interface TextColumn {
  table: string;
  name: string;
  type: 'text' | 'ARRAY' | 'jsonb';
}

/** SQL for a long value of each type. Texts start with a hash of the row's ctid, which makes them unique. */
const VALUES: Record<TextColumn['type'], (length: number, character: string) => string> = {
  text: (length, character) => `left(md5(ctid::text) || repeat('${character}', ${length}), ${length})`,
  ARRAY: (length, character) => `array_fill(repeat('${character}', 10), ARRAY[${length / 10}])`,
  jsonb: (length, character) => `jsonb_build_array(repeat('${character}', ${length}))`,
};

/** Makes every text of every row as long as the schema allows. @returns the columns with long values */
export async function lengthenTexts(make: Factories, { length: longest, character } = { length: 20_000, character: '"' }): Promise<string[]> {
  const columns = await make.query<TextColumn>(`
    SELECT table_name AS "table", column_name AS name, data_type AS type FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'
      AND (data_type IN ('text', 'jsonb') OR udt_name = '_text')
      AND table_name NOT IN ('migrations', 'api_keys', 'organizations', 'outbox', 'invites',
        'organization_results', 'organization_conversations') ORDER BY 1, 2`);
  const long: string[] = [];
  for (const { table, name, type } of columns) {
    for (const length of [longest, ...SHORTER]) {
      const update = `UPDATE ${table} SET ${name} = ${VALUES[type](length, character)}`;
      const fits = await make.withoutTriggers(update).then(
        () => true,
        () => false,
      );
      if (!fits) continue;
      if (length > 250) long.push(`${table}.${name}`);
      break;
    }
  }
  // Lists of results and conversations read from copies.
  await make.query('SELECT correct_copies()');
  return long;
}
