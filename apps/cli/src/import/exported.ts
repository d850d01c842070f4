import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Client } from 'pg';
import type { Env } from '@app/config';
import { inLongTransaction } from '@app/database';
import { FORMAT, type Manifest, MANIFEST, type ManifestFile } from '@app/exports';
import { FORMATS } from '@app/images';
import { STORES } from '@app/storage';
import { auditCommand } from '../audit-command.js';
import { caughtUp } from '../rules.js';
import { Checks } from './checks.js';
import { Faults, ImportError } from './faults.js';
import { begin, type ImportOptions, type ImportReport, readAll, transactionOf, writeAll } from './importer.js';
import { readSchema } from './schema.js';
import { EXPORT } from './tables.js';
import { dropKnown } from './writing.js';

type ExportedOptions = Pick<ImportOptions, 'url' | 'folder' | 'dryRun' | 'onProgress'> & {
  env: Env;
  /** What else arrives, in the same transaction, once all rows are here as they were exported. */
  then?: (client: Client, report: ImportReport) => Promise<void>;
};

/** What has arrived. */
export interface Arrival extends ImportReport {
  organization: Manifest['organization'];
}

/** @returns the manifest of a folder that an installation of this service has exported; null for any other folder */
export async function manifestOf(folder: string): Promise<Manifest | null> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const manifest = JSON.parse(text) as Omit<Manifest, 'format'> & { format: number };
  const { format } = manifest;
  if (format === FORMAT) return { ...manifest, format };
  throw refusal(MANIFEST, `has the format ${format}, and this version reads ${FORMAT}`);
}

/**
 * Brings an organization from an export, with all its rows as they were, or nothing. Nobody is told of it: there is no event.
 *
 * @throws ImportError if the organization is here already, a file is not as it was exported, or a row does not fit
 */
export async function importExport(manifest: Manifest, options: ExportedOptions): Promise<Arrival> {
  const { env, folder } = options;
  const { organization } = manifest;
  for (const file of [...manifest.tables, ...manifest.files]) await checkSum(folder, file);
  const report = await inLongTransaction(transactionOf(options), async (client) => {
    await begin(client, organization.id);
    await client.query(`SET LOCAL app.untold = 'on'`);
    const all = await write(client, manifest, { ...options, organizationId: organization.id });
    await compare(client, manifest);
    if (!options.dryRun) await putFiles(client, manifest, env, folder);
    await options.then?.(client, all);
    return all;
  });
  await caughtUp(env);
  return { organization, ...report };
}

async function write(client: Client, manifest: Manifest, options: ImportOptions & { env: Env }): Promise<ImportReport> {
  const { folder, organizationId, env } = options;
  const { rowCount } = await client.query('SELECT FROM organizations WHERE id = $1', [organizationId]);
  if (rowCount !== 0) throw refusal(MANIFEST, `the organization "${manifest.organization.slug}" is here already`);
  const files = new Map(
    manifest.tables.filter(({ imported }) => imported).map(({ table, path }) => [table, join(folder, path)]),
  );
  const tables = (await readSchema(client, EXPORT)).filter((table) => files.has(table.name));
  const images = await STORES.images[0](env);
  const replace = { part: manifest.images_url, by: images.urlOf('') };
  const faults = new Faults();
  const all = await readAll(client, tables, files, faults, { ...options, replace });
  const checks = new Checks(client, all, faults);
  await checks.lines();
  faults.check();
  for (const staged of all) await dropKnown(client, staged);
  await checks.references();
  faults.check();
  const report = await writeAll(client, all, faults, options);
  await auditCommand(client, organizationId, 'import organization', { exported_at: manifest.exported_at });
  return report;
}

/** What has been written is counted and summed up as the export did, so that nothing is lost or doubled on the way. */
async function compare(client: Client, { tables }: Manifest): Promise<void> {
  for (const { table, rows, sums, path } of tables.filter(({ imported }) => imported)) {
    const { rows: found } = await client.query<{ rows: number; sums: object }>('SELECT rows, sums FROM totals_of($1)', [
      table,
    ]);
    const [before, after] = [{ rows, sums }, found[0]!].map((totals) => JSON.stringify(totals)) as [string, string];
    if (before !== after) throw refusal(path, `has ${before}, and ${after} would be here`);
  }
}

async function checkSum(folder: string, { path, sha256 }: ManifestFile): Promise<void> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) hash.update(chunk);
  } catch (error) {
    throw refusal(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (hash.digest('hex') === sha256) return;
  throw refusal(path, `is not as it was exported. To import files that you have changed, remove ${MANIFEST}`);
}

/** A stored file replaces itself if an import is repeated. */
async function putFiles(client: Client, manifest: Manifest, env: Env, folder: string): Promise<void> {
  const { id: organizationId } = manifest.organization;
  const images = await STORES.images[0](env);
  const documents = await STORES.documents[0](env);
  const { rows: uploads } = await client.query<{ id: string; mime: string }>(
    'SELECT id, mime FROM uploads WHERE organization_id = $1',
    [organizationId],
  );
  const types = new Map(uploads.map(({ id, mime }) => [id, mime]));
  for (const { path, bytes } of manifest.files) {
    const [, kind, name = ''] = /^(documents|images)\/(.+)$/.exec(path) ?? [];
    const open = (): Readable => createReadStream(join(folder, path));
    const object = (contentType = 'application/octet-stream') => ({
      contentType,
      size: bytes,
      open,
      chunks: () => open(),
    });
    if (kind === 'documents') await documents.put(`${organizationId}/${name}`, object(types.get(name)));
    else await images.put(name, object(typeOf(name)));
  }
}

const typeOf = (name: string) =>
  Object.values(FORMATS).find(({ extension }) => `.${extension}` === extname(name))?.contentType;

const refusal = (file: string, message: string) => new ImportError([{ file, line: 0, field: null, message }]);
