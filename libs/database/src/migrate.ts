import type { DataSource } from 'typeorm';
import { connect } from './data-source.js';
import { DatabaseFault } from './database-fault.js';
import { lockNumber } from './locks.js';
import { migrations } from './migrations/index.js';
import { grantRoles, type ProcessUrls } from './roles.js';

const MIGRATION_LOCK = lockNumber('migrations');

/**
 * Brings the schema and the rights of the processes up to date. Safe to run from several machines at once: the later
 * ones wait, then find nothing to do.
 *
 * @returns the names of the migrations that were applied
 */
export async function migrate(ownerUrl: string, urls: ProcessUrls): Promise<string[]> {
  return asOwner(ownerUrl, async (owner) => {
    const applied = await owner.runMigrations();
    await grantRoles(owner, urls);
    return applied.map((migration) => migration.name);
  });
}

/** Reverts the last migration. */
export async function revertLast(ownerUrl: string, urls: ProcessUrls): Promise<string | null> {
  return asOwner(ownerUrl, async (owner) => {
    const [last] = await owner.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
    if (!last) return null;
    await owner.undoLastMigration();
    // Restored objects have PostgreSQL's default privileges.
    await grantRoles(owner, urls);
    return last.name;
  });
}

interface Queryable {
  query<Rows>(text: string): Promise<Rows>;
}

/** Names of this build's migrations that the database lacks. */
export async function pendingMigrations(database: Queryable): Promise<string[]> {
  const [table] = await database.query<{ readable: boolean | null }[]>(
    `SELECT has_table_privilege(to_regclass('migrations'), 'SELECT') AS readable`,
  );
  // A role without any rights cannot see them; roleFaults reports what it lacks.
  if (table?.readable === false) return [];
  const done = table?.readable ? await database.query<{ name: string }[]>('SELECT name FROM migrations') : [];
  const names = new Set(done.map((row) => row.name));
  return migrations.map((migration) => migration.name).filter((name) => !names.has(name));
}

/** Runs `work` as the owner, one process at a time. */
export async function asOwner<T>(url: string, work: (owner: DataSource) => Promise<T>): Promise<T> {
  // Two connections: one holds the lock while the other works.
  const owner = await connect({ url, poolSize: 2, applicationName: 'tutoring migrate', timeouts: false });
  const lock = owner.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work(owner);
  } catch (error) {
    throw DatabaseFault.of(error, url) ?? error;
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await owner.destroy();
  }
}
