import { realpathSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Organizations } from '@app/people';
import { type Env, loadEnv } from '@app/config';
import { Database, migrate } from '@app/database';
import { Failure } from './output.js';
import { type Slugs, slugsOf } from './slugs.js';
import { withClient } from './postgres/client.js';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.js';
import { type Rules, withRules } from './rules.js';
import { launcherOf } from './start/data-lock.js';
import { encryptionKey, knownEncryptionKey } from './start/encryption-key.js';
import { refuseUnsafe } from './start/safety.js';

export interface CommandContext {
  env: Env;
  /** As the owner: for what no process may do. */
  db: Database;
  rules: Rules;
  organizations: Organizations;
  /** Works with rules as the portal does: under its role, with one organization in each transaction. */
  asPortal: <T>(work: (rules: Rules) => Promise<T>) => Promise<T>;
  /** @throws Failure if there is no such organization */
  organizationId: (slug: string) => Promise<string>;
  slugs: () => Promise<Slugs>;
}

/** The settings of another installation: those in `source`, or else this one's, with `overrides`. */
export interface Elsewhere {
  overrides?: Record<string, string>;
  source?: NodeJS.ProcessEnv;
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
export async function openDatabase(launch?: { signal: AbortSignal }, elsewhere?: Elsewhere): Promise<OpenDatabase> {
  const { overrides = {}, source } = elsewhere ?? {};
  const given = loadEnv(overrides, source);
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
    const located = loadEnv({ ...overrides, ...urls }, source);
    if (launch && !postgres) await refuseUnsafe(located);
    const key = launch || postgres ? await encryptionKey(located) : knownEncryptionKey(located);
    const env = loadEnv({ ...overrides, ...urls, ...(key && { ENCRYPTION_KEY: key }) }, source);
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

/** Runs a command. Stops the server afterwards if it started one. */
export async function withContext<T>(work: (context: CommandContext) => Promise<T>): Promise<T> {
  const { env, stop } = await openDatabase();
  try {
    return await withRules(env, 'owner', (rules) => {
      const organizations = rules.get(Organizations);
      return work({
        env,
        db: rules.get(Database),
        rules,
        organizations,
        asPortal: (inside) => withRules(env, 'portal', inside),
        organizationId: async (slug) => {
          const id = await organizations.idBySlug(slug);
          if (!id) throw new Failure(`There is no organization "${slug}": see "org list"`);
          return id;
        },
        slugs: async () => slugsOf(await organizations.list()),
      });
    });
  } finally {
    await stop();
  }
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
