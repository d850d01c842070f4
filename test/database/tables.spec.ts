import pg from 'pg';
import { variables } from '@app/config';
import { LASTING, RETENTION } from '@app/database';
import { AREAS } from '../../libs/database/src/schema/areas.js';
import { type Column, readColumns } from '../support/database/columns.js';
import { createTestDatabase } from '../support/database/database.js';
import { camelCase } from '../support/data/names.js';

const TYPES: Record<string, string> = {
  uuid: 'string',
  'uuid[]': 'string[]',
  text: 'string',
  'text[]': 'string[]',
  'bytea[]': 'Buffer[]',
  boolean: 'boolean',
  integer: 'number',
  bigint: 'number',
  xid8: 'string',
  'double precision': 'number',
  'numeric(5,2)': 'number',
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

/** An interface with a property for each table, and the type of each of its columns. */
function sourceOf(columns: Column[], comment: string): string {
  const tables = [...new Set(columns.map(({ table }) => table))].map((table) => {
    const fields = columns.filter((column) => column.table === table);
    return `  ${table}: {\n${fields.map((column) => `    ${camelCase(column.name)}: ${typeOf(column)};\n`).join('')}  };\n`;
  });
  return `// Written by \`npm run schema\` from the migrated schema. Do not edit.

/** ${comment} */
export interface Tables {
${tables.join('')}}
`;
}

/** The closed sets of values, for whoever declares fields and filters. */
function valuesOf(columns: Column[]): string {
  const sets = [...new Set(columns.map(({ table }) => table))].map((table) => {
    const closed = columns.filter((column) => column.table === table);
    const lines = closed.map(({ name, values }) => `    ${name}: [${values!.map((value) => `'${value}'`).join(', ')}],\n`);
    return `  ${table}: {\n${lines.join('')}  },\n`;
  });
  return `
/** Their values, by table and column. */
export const VALUES = {
${sets.join('')}} as const;
`;
}

/** The columns that are NOT NULL, for whoever shows them. */
function requiredOf(columns: Column[]): string {
  const lines = [...Map.groupBy(columns, ({ table }) => table)].map(([table, all]) => {
    const names = all.filter(({ nullable }) => !nullable).map(({ name }) => name);
    return `  ${table}: '${names.join(' ')}'.split(' '),\n`;
  });
  return `
/** The columns that are never null, by table. */
// prettier-ignore
export const REQUIRED: Partial<Record<string, readonly string[]>> = {
${lines.join('')}};
`;
}

/** Columns by which rows belong to organizations: nearly all tables have one, so pictures leave them out. */
const OWNERS = ['organization_id', 'owner_organization_id'];

/** A line of a diagram for each table that a table refers to. */
function relationsOf(table: string, all: Column[]): string[] {
  const owned = (name: string) => all.some((column) => column.table === name && OWNERS.includes(column.name));
  const keys = all.filter((column) => column.table === table && column.key);
  const relations = new Map<string, string[]>();
  for (const { name, nullable, key, reference } of all.filter((column) => column.table === table)) {
    if (!reference || OWNERS.includes(name)) continue;
    const others = keys.filter((it) => it.name !== name && !(owned(reference.table) && OWNERS.includes(it.name)));
    const line = `${reference.table} ${nullable ? '|o' : '||'}--${key && others.length === 0 ? 'o|' : 'o{'} ${table}`;
    relations.set(line, [...(relations.get(line) ?? []), name.replace(/_id$/, '')]);
  }
  return [...relations].map(([line, names]) => `  ${line} : "${names.join(', ')}"`);
}

function rowOf(table: string, columns: Column[]): string {
  const cells = columns.map(({ name, key, values, reference }) => {
    const target = reference && !OWNERS.includes(name) ? ` → ${reference.table}` : '';
    return `${key ? `**${name}**` : name}${target}${values ? ` (${values.join(', ')})` : ''}`;
  });
  return `| \`${table}\` | ${cells.join(', ')} |`;
}

/** docs/schema.md. */
function pictureOf(columns: Column[]): string {
  const of = (table: string) => columns.filter((column) => column.table === table);
  const areas = Object.entries(AREAS).map(([area, text]) => {
    const tables = [...text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)].map(([, table]) => table!);
    const relations = tables.flatMap((table) => relationsOf(table, columns));
    const diagram = relations.length > 0 ? `\`\`\`mermaid\nerDiagram\n${relations.join('\n')}\n\`\`\`\n\n` : '';
    const rows = ['| Table | Columns |', '| --- | --- |', ...tables.map((table) => rowOf(table, of(table)))];
    const title = camelCase(area)
      .replace(/([A-Z])/g, ' $1')
      .toLowerCase();
    return `## ${title[0]!.toUpperCase()}${title.slice(1)}\n\n${diagram}${rows.join('\n')}\n`;
  });
  return `# The tables

Written by \`npm run schema\` from the migrated schema. [libs/database/src/schema](../libs/database/src/schema) has each table with its
constraints, indexes, triggers and policies, and says why. Keys are bold, arrows are references, and the values of closed sets are in
parentheses. Most tables belong to an organization, and references within one include its id; the diagrams leave both out.

${areas.join('\n')}
${retention()}`;
}

/** How long rows are kept. */
function retention(): string {
  const rows = RETENTION.map(({ table, column, days, where, empties, by }) => {
    const what = `\`${table}\`${where ? `, where \`${where}\`` : ''}${empties ? `: only its ${empties}` : ''}`;
    const long = typeof days === 'string' ? `\`${days}\` (${variables[days].fallback})` : days;
    return `| ${what} | ${column} | ${long} | ${by ?? ''} |`;
  });
  const lasting = Object.entries(LASTING).map(([why, tables]) => `- ${why}: ${tables.map((table) => `\`${table}\``).join(', ')}`);
  return `## How long rows are kept

From libs/database/src/schema/retention.ts. The worker deletes the rows of tables that grow by themselves this many days after a moment of
theirs, every ten minutes and in portions of 5,000; names in capitals are settings.

| Rows | from | days | by |
| --- | --- | --- | --- |
${rows.join('\n')}

All others do not grow by themselves:

${lasting.join('\n')}
`;
}

describe('written from the migrated schema by `npm run schema`', () => {
  let columns: Column[];

  beforeAll(async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
    columns = await readColumns(async (sql) => (await client.query<Column>(sql)).rows);
    await client.end();
    await database.drop();
  });

  it('libs/database/src/tables.ts is up to date', async () => {
    const closed = columns.filter(({ values }) => values);
    const source = sourceOf(closed, 'The columns with a closed set of values, as their CHECKs list it.');
    await expect(source + valuesOf(closed) + requiredOf(columns)).toMatchFileSnapshot('../../libs/database/src/tables.ts');
  });

  it('test/support/database/tables.ts is up to date', async () => {
    const source = sourceOf(columns, 'The rows of every table. Amounts are whole cents, dates are written YYYY-MM-DD.');
    await expect(source).toMatchFileSnapshot('../support/database/tables.ts');
  });

  it('docs/schema.md is up to date', async () => {
    await expect(pictureOf(columns)).toMatchFileSnapshot('../../docs/schema.md');
  });
});
