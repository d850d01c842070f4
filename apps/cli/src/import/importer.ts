import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { RATE_CELLS } from '@app/billing';
import type { Env } from '@app/config';
import { inLongTransaction, lockNumber, tableLock } from '@app/database';
import { caughtUp } from '../rules.js';
import { auditCommand } from '../audit-command.js';
import { Checks } from './checks.js';
import { Consent } from './consent.js';
import { Faults, ImportError } from './faults.js';
import { readSchema, type Table } from './schema.js';
import { stage, type Staged, type StageOptions } from './staging.js';
import { TABLES } from './tables.js';
import { type Changed, Updates } from './updating.js';
import { BATCH_LINES, dropKnown, Writer } from './writing.js';

export { ImportError, type ImportFault } from './faults.js';

/** The progress of a table. Rows are written only after all files have been read and checked. */
export interface ImportProgress {
  table: string;
  phase: 'reading' | 'writing';
  lines: number;
  done: boolean;
}

/** What became of the rows of a file. */
export interface TableReport {
  read: number;
  inserted: number;
  unchanged: number;
  /** In an update: the rows that were changed, and how many in each field. */
  changed?: number;
  fields?: Changed;
  /** In an import without update: how many of the unchanged rows it would change. */
  differing?: number;
}

/** The results for each table that had a file. */
export interface ImportReport {
  tables: Record<string, TableReport>;
}

export interface ImportOptions {
  /** The owner's URL. Forced row-level security applies to the owner during an import, too. */
  url: string;
  organizationId: string;
  /** Contains `<table>.ndjson` files. */
  folder: string;
  /** The settings; their defaults if not given. */
  env?: Env;
  /** Changes rows that are there. */
  update?: boolean;
  /** Does everything, and takes it back. */
  dryRun?: boolean;
  /** Called at most every 200 ms, and at the end of each file. */
  onProgress?: (progress: ImportProgress) => void;
}

/** Tables that the API replaces as a whole, under a lock. */
const REPLACED = [RATE_CELLS.table];

const PROGRESS_EVERY_MS = 200;

/**
 * Imports all of an organization's data or nothing: see docs/import-format.md. Existing rows stay unchanged, so an
 * import can be repeated.
 *
 * @throws ImportError with the faults found; nothing is written then
 */
export async function importFolder(options: ImportOptions): Promise<ImportReport> {
  const files = await findFiles(options.folder);
  const report = await inLongTransaction(transactionOf(options), (client) => importFiles(client, files, options));
  if (options.env) await caughtUp(options.env);
  return report;
}

/** The transaction of an import. */
export const transactionOf = ({ url, dryRun = false }: Pick<ImportOptions, 'url' | 'dryRun'>) => ({
  url,
  applicationName: 'tutoring import',
  takeBack: dryRun,
});

async function importFiles(client: Client, files: Map<string, string>, options: ImportOptions): Promise<ImportReport> {
  const { organizationId, update = false } = options;
  await begin(client, organizationId);
  // Its currency stays until the end.
  const { rowCount } = await client.query('SELECT FROM organizations WHERE id = $1 FOR KEY SHARE', [organizationId]);
  if (rowCount === 0) throw new Error(`There is no organization ${organizationId}`);

  const tables = (await readSchema(client)).filter((table) => files.has(table.name));
  for (const name of REPLACED.filter((table) => files.has(table)))
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockNumber(tableLock(name, organizationId))]);
  const faults = new Faults();
  const all = await readAll(client, tables, files, faults, options);
  const updates = new Updates(client, faults);
  if (update) for (const staged of all) await updates.compare(staged);
  const checks = new Checks(client, all, faults, update);
  await checks.lines();
  faults.check();

  const differing = new Map<string, number>();
  for (const staged of update ? [] : all) {
    differing.set(staged.table.name, await updates.differing(staged));
    await dropKnown(client, staged);
  }
  await checks.relations();
  faults.check();

  return writeAll(client, all, faults, { ...options, differing });
}

/** The settings of an import's transaction, and the lock that keeps others of this organization waiting. */
export async function begin(client: Client, organizationId: string): Promise<void> {
  await client.query(
    `SELECT set_config('app.organization_id', $1, true), set_config('work_mem', '64MB', true), set_config('jit', 'off', true),
      pg_advisory_xact_lock($2)`,
    [organizationId, lockNumber(`import ${organizationId}`)],
  );
}

/** Reads all files into staging tables. */
export async function readAll(
  client: Client,
  tables: Table[],
  files: Map<string, string>,
  faults: Faults,
  { organizationId, onProgress, update, env, replace }: ImportOptions & Pick<StageOptions, 'replace'>,
): Promise<Staged[]> {
  const all: Staged[] = [];
  for (const table of tables) {
    const tell = teller(table.name, 'reading', onProgress);
    const path = files.get(table.name)!;
    const staged = await stage({
      client,
      table,
      path,
      organizationId,
      faults,
      onLines: tell.lines,
      update,
      env,
      replace,
    });
    tell.done(staged.lastLine);
    all.push(staged);
  }
  return all;
}

/** Writes what is staged. */
export async function writeAll(
  client: Client,
  all: Staged[],
  faults: Faults,
  { organizationId, onProgress, update, differing }: ImportOptions & { differing?: Map<string, number> },
): Promise<ImportReport> {
  const report: ImportReport = { tables: {} };
  const updates = new Updates(client, faults);
  const consent = await Consent.of(client, all);
  await each(client, all, 'prepare');
  // Triggers and foreign keys cache their plans while tables are nearly empty. Left to itself, the planner would choose
  // sequential scans for all later rows.
  await client.query('SET LOCAL enable_seqscan = off');
  for (const staged of all) {
    const { table, read, lastLine } = staged;
    const tell = teller(table.name, 'writing', onProgress);
    const inserted = await new Writer(client, staged, faults, update).write(tell.lines);
    await consent.check(staged, faults);
    if (update) await updates.unwritten(staged);
    faults.check();
    // Autovacuum would analyze tables without this transaction's rows, so that triggers choose plans for empty tables.
    // This counts the rows, and its lock keeps autovacuum away until the import ends.
    if (inserted > BATCH_LINES) await client.query(`ANALYZE ${table.name}`);
    const { rows: changed, fields } = await updates.summary(staged);
    const details = { file: table.file, rows: changed, fields: Object.keys(fields) };
    if (changed > 0) await auditCommand(client, organizationId, 'change rows', details);
    const differ = differing?.get(table.name) ?? 0;
    report.tables[table.name] = {
      read,
      inserted,
      unchanged: read - inserted - changed,
      ...(update && { changed, fields }),
      ...(differ > 0 && { differing: differ }),
    };
    tell.done(lastLine);
  }
  await each(client, all, 'complete');
  // Nobody is mailed of what is brought: it counts as told.
  await client.query('UPDATE family_rounds SET position = NULL WHERE organization_id = current_organization_id()');
  return report;
}

/** Runs the statements of the tables' own rules. */
async function each(client: Client, all: Staged[], step: 'prepare' | 'complete'): Promise<void> {
  for (const { table, relation } of all) {
    const statement = table.rules[step]?.(relation);
    if (statement) await client.query(statement);
  }
}

/** The folder's files, by table. */
async function findFiles(folder: string): Promise<Map<string, string>> {
  const refuse = (message: string) => new ImportError([{ file: folder, line: 0, field: null, message }]);
  const all = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${error.code})`);
  });
  const names = all.filter((name) => name.endsWith('.ndjson') && !name.startsWith('.')).sort();
  const faults = new Faults();
  const files = new Map<string, string>();
  for (const name of names) {
    const table = name.slice(0, -'.ndjson'.length);
    files.set(table, join(folder, name));
    if (!TABLES.includes(table))
      faults.add(name, 0, null, `is not a table that can be imported (${TABLES.join(', ')})`);
  }
  faults.check();
  if (files.size === 0) throw refuse('contains no .ndjson files');
  return files;
}

function teller(table: string, phase: ImportProgress['phase'], tell?: ImportOptions['onProgress']) {
  let last = Date.now();
  return {
    lines: (lines: number) => {
      if (Date.now() - last < PROGRESS_EVERY_MS) return;
      last = Date.now();
      tell?.({ table, phase, lines, done: false });
    },
    done: (lines: number) => tell?.({ table, phase, lines, done: true }),
  };
}
