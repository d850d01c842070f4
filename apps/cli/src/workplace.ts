import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { AccountError, ApiKeys, Invites, Organizations } from '@app/accounts';
import { type Env, loadEnv, Vault } from '@app/config';
import { connect, Database, migrate } from '@app/database';
import { Failure } from './output.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/embedded-postgres.js';
import { dataSecret } from './start/data-secret.js';

/** What a command works with. */
export interface Workplace {
  env: Env;
  db: Database;
  keys: ApiKeys;
  organizations: Organizations;
  /** @throws Failure when there is no such organization */
  organizationId: (slug: string) => Promise<string>;
}

/**
 * The configuration with a database in it: the one of DATABASE_URL, else an embedded PostgreSQL in DATA_DIR, started when
 * it does not run and brought up to date. The embedded one, and whoever runs the service here (`adopt`), has the data
 * folder's encryption key where the environment has none.
 */
export async function openDatabase(
  options: { adopt?: boolean } = {},
): Promise<{ env: Env; stop: () => Promise<void> }> {
  const env = loadEnv();
  const withKey = () => ({
    ENCRYPTION_KEY: env.get('ENCRYPTION_KEY') ?? dataSecret(env.get('DATA_DIR'), 'encryption-key'),
  });
  if (env.get('DATABASE_URL') ?? env.get('MIGRATION_DATABASE_URL')) {
    return { env: options.adopt ? loadEnv(withKey()) : env, stop: () => Promise.resolve() };
  }
  const postgres = await startEmbeddedPostgres({
    dataDir: env.get('DATA_DIR'),
    ...options,
    // A command that passes by says only what it was asked for.
    ...(options.adopt && { log: (line: string) => process.stderr.write(`${line}\n`) }),
  });
  const urls = {
    DATABASE_URL: postgres.applicationUrl,
    WORKER_DATABASE_URL: postgres.workerUrl,
    MIGRATION_DATABASE_URL: postgres.ownerUrl,
  };
  const migrated = loadEnv({ ...urls, ...withKey() });
  await migrate(migrated.migrationUrl, migrated.processUrls);
  return { env: migrated, stop: () => stopUnlessUsed(postgres, options.adopt ?? false) };
}

/** What PostgreSQL answers when a role lacks a right. */
const DENIED = '42501';

/** Runs a command on a database, as its owner, and leaves everything as it was found. */
export async function withWorkplace<T>(work: (workplace: Workplace) => Promise<T>): Promise<T> {
  const { env, stop } = await openDatabase();
  try {
    const dataSource = await connect({
      url: env.migrationUrl,
      poolSize: 2,
      applicationName: 'tutoring cli',
    }).catch((error: unknown) => {
      throw new Failure(`The database of MIGRATION_DATABASE_URL cannot be reached: ${(error as Error).message}`);
    });
    try {
      const db = new Database(dataSource);
      const organizations = new Organizations(db, new Invites(db, env, new Vault(env)));
      return await work({
        env,
        db,
        keys: new ApiKeys(db, env),
        organizations,
        organizationId: async (slug) => {
          const id = await organizations.idBySlug(slug);
          if (!id) throw new Failure(`There is no organization "${slug}"`);
          return id;
        },
      });
    } finally {
      await dataSource.destroy();
    }
  } catch (error) {
    if (error instanceof AccountError) throw new Failure(error.message);
    if ((error as { code?: unknown }).code === DENIED) {
      throw new Failure('Commands run as the owner of the database: set MIGRATION_DATABASE_URL to its address.');
    }
    throw error;
  } finally {
    await stop();
  }
}

/** A server that this command started may serve others by now: whoever adopted it stops it. */
async function stopUnlessUsed(postgres: EmbeddedPostgres, owned: boolean): Promise<void> {
  if (postgres.startedHere && !owned && (await isUsed(postgres.adminUrl))) return;
  await postgres.stop();
}

/** A connection that was just closed takes PostgreSQL a moment to end (ms). */
const CLOSING_PATIENCE = 1_000;

async function isUsed(adminUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const deadline = Date.now() + CLOSING_PATIENCE;
    for (;;) {
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      );
      if (rowCount === 0 || Date.now() > deadline) return rowCount !== 0;
      await setTimeout(20);
    }
  } finally {
    await client.end();
  }
}
