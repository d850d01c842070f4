import type { DataSource } from 'typeorm';
import { appliedMigrations } from './applied-migrations.js';
import { connect } from './data-source.js';
import { DatabaseFault } from './database-fault.js';
import { lockNumber } from './locks.js';
import { Schema } from './migrations/1763600000030-schema.js';
import { grantRoles, type ProcessUrls, userOf } from './roles.js';
import { replaceFunctions } from './schema/functions.js';
import { missingSettings, type SettledRole } from './session-settings.js';

const MIGRATION_LOCK = lockNumber('migrations');

export interface Migrated {
  /** The names of the migrations that were applied. */
  applied: string[];
  /** The functions whose text differed from the files. */
  replaced: string[];
}

/** Brings schema, functions and rights up to date; several at once wait for each other. @throws Error for another unreleased build's database */
export async function migrate(ownerUrl: string, urls: ProcessUrls): Promise<Migrated> {
  return asOwner(ownerUrl, async (owner) => {
    await refuseOthers(owner);
    const applied = await owner.runMigrations();
    // In one transaction, so that nobody may run a new function before its rights are settled.
    const replaced = await owner.transaction(async (manager) => {
      const names = await replaceFunctions(manager);
      await grantRoles(manager, urls);
      return names;
    });
    await settle({ owner: ownerUrl, ...urls });
    return { applied: applied.map((migration) => migration.name), replaced };
  });
}

/** Each role sets what it lacks of its session settings: it may change its own, so this needs no superuser. */
async function settle(urls: ProcessUrls & { owner: string }): Promise<void> {
  for (const [role, url] of Object.entries(urls) as [SettledRole, string][]) {
    // In development the owner may be everything, whose migrations must not be limited.
    if (role !== 'owner' && userOf(url) === userOf(urls.owner)) continue;
    const own = await connect({ url, poolSize: 1, applicationName: 'tutoring migrate' });
    try {
      for (const { name, value } of await missingSettings(own, role))
        await own.query(`ALTER ROLE CURRENT_USER SET ${name} = '${value}'`);
    } finally {
      await own.destroy();
    }
  }
}

async function refuseOthers(owner: DataSource): Promise<void> {
  const done = (await appliedMigrations(owner)) ?? [];
  if (done.length === 0 || done.includes(Schema.name)) return;
  throw new Error(
    'This database was made by another unreleased build, which this one cannot update: use an empty database (for "npm start", another DATA_DIR).',
  );
}

/** Reverts the last migration, but never the first, which made all tables. */
export async function revertLast(ownerUrl: string, urls: ProcessUrls): Promise<string | null> {
  return asOwner(ownerUrl, async (owner) => {
    const last = (await appliedMigrations(owner))?.at(-1);
    if (!last || last === Schema.name) return null;
    await owner.undoLastMigration();
    // Restored objects have PostgreSQL's default privileges.
    await owner.transaction((manager) => grantRoles(manager, urls));
    return last;
  });
}

/** Runs `work` as the owner, one process at a time. */
export async function asOwner<T>(url: string, work: (owner: DataSource) => Promise<T>): Promise<T> {
  // Two connections: one holds the lock while the other works.
  const owner = await connect({ url, poolSize: 2, applicationName: 'tutoring migrate', direct: true });
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
