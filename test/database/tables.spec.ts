import pg from 'pg';
import { type Column, readColumns } from '../support/database/columns.js';
import { createTestDatabase } from '../support/database/database.js';
import { camelCase } from '../support/data/names.js';

const TYPES: Record<string, string> = {
  uuid: 'string',
  'uuid[]': 'string[]',
  text: 'string',
  'text[]': 'string[]',
  boolean: 'boolean',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  date: 'string',
  'timestamp(3) with time zone': 'Date',
  bytea: 'Buffer',
  json: 'unknown',
  jsonb: 'unknown',
};

function typeOf({ table, name, type, values, nullable }: Column): string {
  const known = values?.map((value) => `'${value}'`).join(' | ') ?? TYPES[type];
  if (!known) throw new Error(`${table}.${name}: give the type ${type} its TypeScript type in TYPES`);
  return nullable && known !== 'unknown' ? `${known} | null` : known;
}

/** The source of libs/database/src/tables.ts. */
function sourceOf(columns: Column[]): string {
  const tables = [...new Set(columns.map(({ table }) => table))].map((table) => {
    const fields = columns.filter((column) => column.table === table);
    return `  ${table}: {\n${fields.map((column) => `    ${camelCase(column.name)}: ${typeOf(column)};\n`).join('')}  };\n`;
  });
  return `// Written by \`npm run schema\` from the migrated schema. Do not edit.

/** The rows of every table. Amounts are whole cents, dates are written YYYY-MM-DD. */
export interface Tables {
${tables.join('')}}
`;
}

it('libs/database/src/tables.ts is up to date: `npm run schema` writes it', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    const columns = await readColumns(async (sql) => (await client.query<Column>(sql)).rows);
    await expect(sourceOf(columns)).toMatchFileSnapshot('../../libs/database/src/tables.ts');
  } finally {
    await client.end();
    await database.drop();
  }
});
