import { realpathSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { ApiKeys } from '@app/access';
import { Organizations, Invites } from '@app/people';
import { type Env, loadEnv, Vault } from '@app/config';
import { connect, Database, DatabaseFault, migrate } from '@app/database';
import { Failure } from './output.js';
import { type Slugs, slugsOf } from './slugs.js';
import { withClient } from './postgres/client.js';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.js';
import { launcherOf } from './start/data-lock.js';
import { encryptionKey, knownEncryptionKey } from './start/encryption-key.js';
import { refuseUnsafe } from './start/safety.js';

export interface CommandContext {
  env: Env;
  db: Database;
  keys: ApiKeys;
  organizations: Organizations;
  /** @throws Failure if there is no such organization */
  organizationId: (slug: string) => Promise<string>;
  slugs: () => Promise<Slugs>;
}

export interface OpenDatabase {
  env: Env;
  /** The embedded database's folder; null if DATABASE_URL is used. */
  where: string | null;
  stop: () => Promise<void>;
}

/**
 * Opens the database of DATABASE_URL, or else an embedded PostgreSQL, which it starts and migrates. A launcher migrates either, adopts a server that
 * a killed launcher left running, and creates a missing encryption key. @throws Failure, leaving nothing changed and nothing running
 */
export async function openDatabase(launch?: { signal: AbortSignal }): Promise<OpenDatabase> {
  const given = loadEnv();
  const dataDir = given.get('DATA_DIR');
  const embedded = usesEmbedded(given);
  const postgres =
    embedded &&
    (await startEmbeddedPostgres({
      dataDir,
      adopt: true,
      // A single command prints only its own output.
      ...(launch && { signal: launch.signal, log: (line: string) => process.stderr.write(`${line}\n`) }),
    }));
  const stop = async () => {
    if (postgres && (launch || !(await isUsed(postgres.adminUrl, dataDir)))) await postgres.stop();
  };
  try {
    const urls = postgres && {
      DATABASE_URL: postgres.applicationUrl,
      WORKER_DATABASE_URL: postgres.workerUrl,
      PORTAL_DATABASE_URL: postgres.portalUrl,
      MIGRATION_DATABASE_URL: postgres.ownerUrl,
    };
    const located = loadEnv({ ...urls });
    if (launch && !postgres) await refuseUnsafe(located);
    const key = launch || postgres ? await encryptionKey(located) : knownEncryptionKey(located);
    const env = loadEnv({ ...urls, ...(key && { ENCRYPTION_KEY: key }) });
    if (launch || postgres) await migrate(env.migrationUrl, env.processUrls);
    return { env, where: postgres ? realpathSync(postgres.dataDirectory) : null, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether the database is the embedded one. */
export function usesEmbedded(env: Env): boolean {
  return (env.get('DATABASE_URL') ?? env.get('MIGRATION_DATABASE_URL')) === null;
}

/** Runs a command as the database's owner. Stops the server afterwards if it started one. */
export async function withContext<T>(work: (context: CommandContext) => Promise<T>): Promise<T> {
  const { env, stop } = await openDatabase();
  try {
    const dataSource = await connect({ url: env.migrationUrl, poolSize: 2, applicationName: 'tutoring cli' });
    try {
      const db = new Database(dataSource);
      const organizations = organizationsOf(db, env);
      return await work({
        env,
        db,
        keys: ApiKeys.on(db, env),
        organizations,
        organizationId: async (slug) => {
          const id = await organizations.idBySlug(slug);
          if (!id) throw new Failure(`There is no organization "${slug}": see "org list"`);
          return id;
        },
        slugs: async () => slugsOf(await organizations.list()),
      });
    } catch (error) {
      throw DatabaseFault.of(error, env.migrationUrl) ?? error;
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await stop();
  }
}

export function organizationsOf(db: Database, env: Env): Organizations {
  return new Organizations(db, new Invites(db, env, new Vault(env)));
}

/** PostgreSQL takes a moment to end a closed connection (ms). */
const CLOSING_PATIENCE = 1_000;

/** Whether others use the server: a running service, or another command, which will stop it. */
async function isUsed(adminUrl: string, dataDir: string): Promise<boolean> {
  if (launcherOf(dataDir)) return true;
  return withClient(adminUrl, async (client) => {
    const deadline = Date.now() + CLOSING_PATIENCE;
    for (;;) {
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
      if (rowCount === 0 || Date.now() > deadline) return rowCount !== 0;
      await setTimeout(20);
    }
  });
}
