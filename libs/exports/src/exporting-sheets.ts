import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import type { Client } from 'pg';
import { inLongTransaction, portionsOf } from '@app/database';
import { CSV } from './csv.js';
import { type ExportOptions, makeEmpty, PORTION } from './exporting.js';
import { PEOPLE, SHEETS, type Sheet } from './sheets.js';

/** PostgreSQL's number of the type bigint, which is that of amounts. */
const BIGINT = 20;

/**
 * Writes CSV files for bookkeepers and teachers into a folder, all from one snapshot.
 *
 * @returns the rows of each file @throws Error if the folder is not empty
 */
export async function exportSheets(options: Omit<ExportOptions, 'as' | 'env'>): Promise<Record<string, number>> {
  const { url, organizationId, folder, onProgress } = options;
  await makeEmpty(folder);
  return inLongTransaction({ url, applicationName: 'tutoring export', snapshot: true }, async (client) => {
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
    const rows: Record<string, number> = {};
    for (const sheet of SHEETS) {
      const target = join(folder, sheet.file);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      const tell = (done: number) => {
        rows[sheet.file] = done;
        onProgress?.(sheet.file, done);
      };
      await pipeline(
        parts(client, organizationId, sheet, tell),
        createWriteStream(target, { mode: 0o600, flags: 'wx' }),
      );
    }
    return rows;
  });
}

async function* parts(client: Client, organizationId: string, { columns, from }: Sheet, tell: (done: number) => void) {
  const values = Object.entries(columns).map(([heading, value]) => `${value} AS "${heading}"`);
  await client.query(`DECLARE sheet NO SCROLL CURSOR FOR WITH ${PEOPLE} SELECT ${values.join(', ')} ${from}`, [
    organizationId,
  ]);
  const headings = Object.keys(columns);
  // The headings alone, if there is no row.
  yield stringify([], { ...CSV, columns: headings, header: true, bom: true });
  let done = 0;
  tell(done);
  for await (const { rows, fields } of portionsOf<Record<string, string | number | null>>(client, 'sheet', PORTION)) {
    const amounts = fields.filter(({ dataTypeID }) => dataTypeID === BIGINT).map(({ name }) => name);
    const cells = rows.map((row) => {
      const money = amounts.map((name) => [name, row[name] === null ? null : BigInt(row[name]!)] as const);
      return { ...row, ...Object.fromEntries(money) };
    });
    yield stringify(cells, { ...CSV, columns: headings });
    done += rows.length;
    tell(done);
  }
}
