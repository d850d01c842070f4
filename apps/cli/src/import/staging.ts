import type { Client } from 'pg';
import { type Env, loadEnv } from '@app/config';
import type { Faults } from './faults.js';
import { BadLine, readLines } from './lines.js';
import { RowReader, type StagedRow } from './row-reader.js';
import type { Table } from './schema.js';

/**
 * A temporary table that holds the rows of a file until all files have been checked. In an update, `given` are the fields of
 * a line, and `known` is true for a row that is there.
 */
export interface Staged {
  table: Table;
  relation: string;
  read: number;
  lastLine: number;
}

/** Maximum rows per statement, and maximum text, because lines can be long. */
const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 100_000;

const BLANK = /^\s*$/;

export interface StageOptions {
  client: Client;
  table: Table;
  path: string;
  organizationId: string;
  faults: Faults;
  onLines: (lines: number) => void;
  /** Whether lines may leave out fields of rows that are there. */
  update?: boolean;
  /** Settings that decide what a column may hold; their defaults if not given. */
  env?: Env | undefined;
  /** Reads something else in place of a part of each line. */
  replace?: { part: string; by: string } | undefined;
}

/** Reads the valid lines of a file into its staging table; the others become faults. */
export async function stage(options: StageOptions): Promise<Staged> {
  const {
    client,
    table,
    path,
    organizationId,
    faults,
    onLines,
    update = false,
    env = loadEnv({}, {}),
    replace,
  } = options;
  const relation = `import_${table.name}`;
  const columns = [...table.columns, ...table.derived].map(({ name, type }) => `"${name}" ${type}`).join(', ');
  const definition = `given text[], known boolean, ${columns}`;
  await client.query(`CREATE TEMPORARY TABLE ${relation} (line integer PRIMARY KEY, ${definition}) ON COMMIT DROP`);
  const loader = new Loader(
    client,
    `INSERT INTO ${relation} SELECT * FROM json_to_recordset($1) AS rows (line integer, ${definition})`,
  );
  const reader = new RowReader(table, organizationId, update, env);
  const staged: Staged = { table, relation, read: 0, lastLine: 0 };
  for await (const { first, lines } of readLines(path)) {
    for (const [place, text] of lines.entries()) {
      const line = first + place;
      const report = (field: string | null, message: string) => {
        faults.add(table.file, line, field, message);
      };
      if (text instanceof BadLine) {
        report(null, text.problem);
      } else if (!BLANK.test(text)) {
        const row = reader.read(replace ? text.replaceAll(replace.part, replace.by) : text, report);
        staged.read++;
        if (row && loader.add(line, row, text.length)) await loader.flush();
      }
    }
    staged.lastLine = first + lines.length - 1;
    onLines(staged.lastLine);
  }
  await loader.finish();
  await client.query(`ANALYZE ${relation}`);
  return staged;
}

/** Sends rows in batches. Reads the next batch while the server processes the previous one. */
class Loader {
  private rows: StagedRow[] = [];
  private characters = 0;
  private sent: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly insert: string,
  ) {}

  /** @returns whether it is time to flush */
  add(line: number, row: StagedRow, characters: number): boolean {
    row.line = line;
    this.rows.push(row);
    this.characters += characters;
    return this.rows.length >= BATCH_ROWS || this.characters >= BATCH_CHARACTERS;
  }

  async flush(): Promise<void> {
    const rows = this.rows;
    this.rows = [];
    this.characters = 0;
    await this.sent;
    if (rows.length > 0) this.sent = this.client.query(this.insert, [JSON.stringify(rows)]);
    // The next await reports a failure. Until then, it must not count as an unhandled rejection.
    this.sent.catch(() => undefined);
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.sent;
  }
}
