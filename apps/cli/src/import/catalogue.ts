import { basename } from 'node:path';
import type { Client } from 'pg';
import { inLongTransaction } from '@app/database';
import { Checks } from './checks.js';
import { Faults } from './faults.js';
import { readSchema, type Table } from './schema.js';
import { stage, type Staged } from './staging.js';

export interface CatalogueOptions {
  /** The owner's URL. */
  url: string;
  /** The name by which keys ask for its questions. */
  catalogue: string;
  /** A file like `questions.ndjson`. */
  path: string;
}

/**
 * Imports a catalogue's questions, which belong to no organization, or nothing. Existing rows stay unchanged.
 *
 * @throws ImportError with the faults found
 */
export function importCatalogue(options: CatalogueOptions): Promise<{ read: number; inserted: number }> {
  return inLongTransaction({ url: options.url, applicationName: 'tutoring import' }, (client) =>
    importQuestions(client, options),
  );
}

async function importQuestions(client: Client, { catalogue, path }: CatalogueOptions) {
  await client.query('SET LOCAL app.maintenance = on');
  const questions = (await readSchema(client)).find(({ name }) => name === 'questions')!;
  // Nobody of an organization is the author.
  const columns = questions.columns.filter(({ name }) => name !== 'author_id');
  const table: Table = { ...questions, columns, references: [], file: basename(path) };
  const faults = new Faults();
  const staged = await stage({ client, table, path, organizationId: '', faults, onLines: () => undefined });
  await new Checks(client, [staged], faults).lines();
  faults.check();
  const { rows: taken } = await client.query<{ line: number }>(
    `SELECT s.line FROM ${staged.relation} s JOIN questions q ON q.id = s.id WHERE q.catalogue IS DISTINCT FROM $1`,
    [catalogue],
  );
  for (const { line } of taken) faults.add(table.file, line, 'id', 'is taken');
  faults.check();
  return { read: staged.read, inserted: await insert(client, staged, catalogue) };
}

async function insert(client: Client, { table: { columns }, relation }: Staged, catalogue: string): Promise<number> {
  const names = columns.map(({ name }) => `"${name}"`);
  const values = columns.map(({ name, fallback }) => (fallback ? `coalesce("${name}", ${fallback})` : `"${name}"`));
  const { rowCount } = await client.query(
    `INSERT INTO questions (${names.join(', ')}, catalogue) SELECT ${values.join(', ')}, $1 FROM ${relation} ORDER BY line
     ON CONFLICT (id) DO NOTHING`,
    [catalogue],
  );
  return rowCount ?? 0;
}
