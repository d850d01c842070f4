import { createHash } from 'node:crypto';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from 'pg';
import type { Env } from '@app/config';
import { EXPORTED_DATA, EXPORTED_HISTORY, inLongTransaction, portionsOf } from '@app/database';
import { STORES } from '@app/storage';
import { FORMAT, type Manifest, MANIFEST, type ManifestFile, type ManifestTable } from './manifest.js';

/** Rows that are asked for at once. */
export const PORTION = 2_000;

/** How the rows of a table are opened and counted: the worker may only while an export that an owner has confirmed is being prepared. */
const READS = {
  owner: { open: 'SELECT open_rows($1)', totals: 'SELECT rows, sums FROM totals_of($1)' },
  worker: { open: 'SELECT open_export($1)', totals: 'SELECT rows, sums FROM totals_of_export($1)' },
};

export interface ExportOptions {
  env: Env;
  /** Of this role. Forced row-level security applies to the owner during an export, too. */
  url: string;
  as: keyof typeof READS;
  organizationId: string;
  /** Is created; may exist if it is empty. */
  folder: string;
  /** Called after each portion of rows, and after each document and image. */
  onProgress?: (what: string, done: number) => void;
}

/**
 * Writes all that an organization may see of its data into a folder: see docs/export.md. All tables are of one snapshot, and
 * memory holds a portion of them.
 *
 * @throws Error if the folder is not empty
 */
export async function exportOrganization(options: ExportOptions): Promise<Manifest> {
  await makeEmpty(options.folder);
  const { url } = options;
  return inLongTransaction({ url, applicationName: 'tutoring export', snapshot: true }, (client) =>
    new Exporting(client, options).write(),
  );
}

/** @throws Error for a folder that is not empty */
export async function makeEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`The folder ${folder} is not empty`);
}

class Exporting {
  /** Paths of our own images that a text names. */
  private readonly images = new Set<string>();
  /** The rows of small tables, which the manifest and the files need. */
  private readonly kept: Record<string, { id: string }[]> = { organizations: [], uploads: [] };

  constructor(
    private readonly client: Client,
    private readonly options: ExportOptions,
  ) {}

  async write(): Promise<Manifest> {
    const { client } = this;
    const { env, organizationId, folder } = this.options;
    await client.query(
      `SELECT set_config('app.organization_id', $1, true), set_config('TimeZone', 'UTC', true),
        set_config('cursor_tuple_fraction', '1', true)`,
      [organizationId],
    );
    const { rows } = await client.query<{ now: Date }>('SELECT now()');
    const images = await STORES.images[0](env);
    const documents = await STORES.documents[0](env);
    const imagesUrl = images.urlOf('');

    const tables: ManifestTable[] = [];
    for (const table of Object.keys(EXPORTED_DATA)) tables.push(await this.table(table, imagesUrl));
    for (const table of Object.keys(EXPORTED_HISTORY)) tables.push(await this.table(table, null));
    const [organization] = this.kept.organizations as Manifest['organization'][];
    if (!organization) throw new Error(`There is no organization ${organizationId}`);

    const missing: string[] = [];
    const files: ManifestFile[] = [];
    const copy = async (path: string, stored: Promise<AsyncIterable<Buffer> | null>) => {
      const content = await stored;
      if (content) files.push(await this.file(path, content));
      else missing.push(path);
      this.options.onProgress?.('files', files.length);
    };
    for (const { id } of this.kept.uploads ?? [])
      await copy(`documents/${id}`, documents.read(`${organizationId}/${id}`));
    for (const path of [...this.images].sort()) await copy(`images/${path}`, images.read(path));

    const manifest: Manifest = {
      format: FORMAT,
      organization: { id: organizationId, slug: organization.slug, name: organization.name },
      exported_at: rows[0]!.now.toISOString(),
      images_url: imagesUrl,
      tables,
      files,
      missing,
    };
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
    return manifest;
  }

  /** @param imagesUrl what the addresses of images in an import begin with; null for a table that is not imported */
  private async table(table: string, imagesUrl: string | null): Promise<ManifestTable> {
    const imported = imagesUrl !== null;
    const file = await this.file(`${imported ? '' : 'history/'}${table}.ndjson`, this.lines(table, imagesUrl));
    const { rows: totals } = await this.client.query<Pick<ManifestTable, 'rows' | 'sums'>>(
      READS[this.options.as].totals,
      [table],
    );
    return { table, imported, ...totals[0]!, ...file };
  }

  private async *lines(table: string, imagesUrl: string | null): AsyncGenerator<Buffer> {
    const { client, images } = this;
    const { as, onProgress } = this.options;
    let done = 0;
    for await (const portion of rowsOf(client, table, as)) {
      done += portion.length;
      onProgress?.(table, done);
      this.kept[table]?.push(...portion.map((line) => JSON.parse(line) as { id: string }));
      const text = textOf(portion);
      if (imagesUrl !== null) imagesIn(text, imagesUrl).forEach((path) => images.add(path));
      yield Buffer.from(text);
    }
  }

  private async file(path: string, content: AsyncIterable<Buffer>): Promise<ManifestFile> {
    const target = join(this.options.folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const hash = createHash('sha256');
    const handle = await open(target, 'wx', 0o600);
    let bytes = 0;
    try {
      for await (const chunk of content) {
        hash.update(chunk);
        bytes += chunk.length;
        await handle.writeFile(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { path, bytes, sha256: hash.digest('hex') };
  }
}

const textOf = (portion: string[]) => portion.map((line) => `${line}\n`).join('');

/** The rows of a table of the organization of the transaction, as lines, some thousand at a time. */
async function* rowsOf(client: Client, table: string, as: keyof typeof READS): AsyncGenerator<string[]> {
  await client.query(READS[as].open, [table]);
  for await (const { rows } of portionsOf<{ line: string }>(client, 'exported', PORTION))
    yield rows.map(({ line }) => line);
}

/** The rows of a table as an export of this transaction would have them, one line each, with the addresses of images replaced. */
export async function* linesOf(
  client: Client,
  table: string,
  images: { part: string; by: string },
): AsyncGenerator<string> {
  for await (const portion of rowsOf(client, table, 'owner'))
    for (const line of portion) yield line.replaceAll(images.part, images.by);
}

/** The paths of the images whose addresses a text has. */
function imagesIn(text: string, imagesUrl: string): string[] {
  return text
    .split(imagesUrl)
    .slice(1)
    .flatMap((rest) => /^[\w.-]+(\/[\w.-]+)*/.exec(rest)?.[0] ?? [])
    .filter((path) => !path.split('/').includes('..'));
}
