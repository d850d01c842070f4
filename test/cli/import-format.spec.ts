import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { type Column, readSchema, type Table } from '../../apps/cli/src/import/schema.js';
import { TABLE_RULES } from '../../apps/cli/src/import/tables.js';
import { FIELDS, type Kind, type Schema } from '@app/fields';
import { createTestDatabase } from '../support/database/database.js';

const TYPES: Record<string, string> = {
  uuid: 'UUID',
  text: 'text',
  'text[]': 'list of texts',
  'uuid[]': 'list of UUIDs',
  boolean: 'true or false',
  integer: 'whole number',
  bigint: 'whole number',
  'double precision': 'number',
  'numeric(5,2)': 'number, two decimals',
  date: 'date',
  'timestamp(3) with time zone': 'time',
  json: 'JSON',
  jsonb: 'JSON',
};

/** The table of fields that the document must have under the file's heading. */
function describeFields(table: Table): string {
  const rows = table.columns.map((column) => `| \`${column.name}\` | ${valueOf(table, column)} | ${leftOut(column)} |`);
  for (const name of Object.keys(TABLE_RULES[table.name]?.extraFields ?? {})) {
    rows.splice(2, 0, `| \`${name}\` | true or false | \`true\` |`);
  }
  return ['| Field | Value | When left out |', '| --- | --- | --- |', ...rows].join('\n');
}

type Bounds = Schema & { pattern?: string; minLength?: number; maxLength?: number };

/** The rules of a column's kind, in words. */
function wordsOf({ type, format, pattern, minLength, maxLength, minimum, maximum, maxItems, uniqueItems, items }: Bounds): string[] {
  if (type === 'integer') return [`from ${String(minimum)} to ${String(maximum)}`];
  if (type === 'array') {
    return [`at most ${String(maxItems)}`, ...(uniqueItems ? ['without repeats'] : []), ...wordsOf(items as Schema).map((words) => `each ${words}`)];
  }
  const length = minLength ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`;
  return [
    ...(format === 'uri' ? ['an address with http or https'] : []),
    ...(maxLength === undefined ? [] : [length]),
    ...(pattern === undefined || pattern === '\\S' || format === 'uri' ? [] : [`matching \`${pattern.replaceAll('|', '\\|')}\``]),
  ];
}

function valueOf({ name: table, references, checks }: Table, { name, type }: Column): string {
  const kind = (FIELDS as Record<string, Record<string, Kind>>)[table]?.[name];
  const plain = checks.filter(({ columns, message }) => columns.join() === name && /must not|one of|bytes/.test(message));
  if (kind)
    return [TYPES[type], ...wordsOf(kind.schema), ...plain.map(({ message }) => message.replace('must ', '').replace('be one of', 'one of'))].join(
      ', ',
    );
  const reference = references.find(({ column }) => column === name);
  const rules = checks.filter(({ columns }) => columns.length === 1 && columns[0] === name);
  return [
    reference ? `\`${reference.key}\` in ${reference.table}.ndjson` : TYPES[type],
    ...rules.map(({ message }) =>
      message
        .replaceAll(/must (be |have )?/g, '')
        .replace(/match (\S+)/, 'matching `$1`')
        .replaceAll('|', '\\|'),
    ),
  ].join(', ');
}

function leftOut({ type, required, fallback }: Column): string {
  if (!required) return 'null';
  if (fallback === null) return '**required**';
  if (fallback === 'now()') return 'time of the import';
  if (fallback === "'{}'::json") return '`{}`';
  if (fallback === "''::text") return 'made from the name';
  return `\`${fallback
    .replace(/::.*$/, '')
    .replace(/^'(.*)'$/, '$1')
    .replace('{}', type === 'jsonb' ? '{}' : '[]')}\``;
}

/** The document with each table's fields under its heading; a table that has no section yet gets one. */
function describeFiles(text: string, schema: Table[]): string {
  const [introduction, ...sections] = text.split(/^### /m);
  const written = schema.map((table) => {
    const section = sections.find((candidate) => candidate.startsWith(`${table.file}\n`)) ?? `${table.file}\n\n`;
    const prose = section.split('\n').filter((line) => !line.startsWith('|'));
    return `### ${prose.join('\n').trim()}\n\n${describeFields(table)}\n`;
  });
  return introduction! + written.join('\n');
}

describe('docs/import-format.md', () => {
  let schema: Table[];
  let text: string;

  beforeAll(async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.applicationUrl });
    await client.connect();
    schema = await readSchema(client);
    await client.end();
    await database.drop();
    text = await readFile(new URL('../../docs/import-format.md', import.meta.url), 'utf8');
  });

  it('describes exactly the files of the schema, in the order of import: `npm run schema` writes the tables', async () => {
    await expect(describeFiles(text, schema)).toMatchFileSnapshot('../../docs/import-format.md');
  });

  it('describes every rule of a single field in words', () => {
    const rules = schema.flatMap(({ checks }) => checks.filter(({ columns }) => columns.length === 1));
    expect(rules.length).toBeGreaterThan(50);
    for (const { constraint, message } of rules) expect(message, constraint).not.toContain('must satisfy');
  });
});
