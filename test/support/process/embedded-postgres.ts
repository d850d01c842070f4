import { chmod, mkdtemp, readFile, realpath, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from '../../../apps/cli/src/postgres/embedded-postgres.js';
export const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/**
 * Embedded servers, each with its own folder. After each test, stops its servers and removes their folders. Call this
 * at the top of a spec.
 */
export function embeddedServers() {
  const folders: string[] = [];
  const servers: EmbeddedPostgres[] = [];
  /** For tests that do not need an empty folder: initializing one takes most of a test's time. */
  let usedDir: string;

  beforeAll(async () => {
    usedDir = await createFolder();
  });

  afterAll(() => removeFolder(usedDir));

  afterEach(async () => {
    const started = servers.splice(0);
    for (const server of started) await server.stop();
    for (const { dataDirectory } of started) {
      if (!dataDirectory.startsWith('/var/lib/tutoring-api/')) continue;
      await removeFolder(dirname(dataDirectory));
      // Fails harmlessly if somebody else keeps data there.
      await rmdir('/var/lib/tutoring-api').catch(() => undefined);
    }
    for (const folder of folders.splice(0)) await removeFolder(folder);
  });

  return {
    usedDir: () => usedDir,
    makeFolder: async (): Promise<string> => {
      const folder = await createFolder();
      folders.push(folder);
      return folder;
    },
    start: async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
      const server = await startEmbeddedPostgres({ settings, ...options });
      servers.push(server);
      return server;
    },
  };
}

async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'embedded-postgres-')));
  // mkdtemp closes the folder to other accounts. When this runs as root, that is a separate case.
  await chmod(folder, 0o755);
  return folder;
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, ssl: false });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function pidOf(server: EmbeddedPostgres): Promise<number> {
  return Number.parseInt(await readFile(join(server.dataDirectory, 'postmaster.pid'), 'utf8'), 10);
}
