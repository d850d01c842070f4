import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { ProcessUrls } from '@app/database';

/** One spec file's database. */
export interface TestDatabase {
  /** The owner's connection: migrates, owns every table. */
  ownerUrl: string;
  /** The API's role. */
  applicationUrl: string;
  workerUrl: string;
  portalUrl: string;
  /** The roles of the three processes. */
  processUrls: ProcessUrls;
  /** A role with all rights on rows: only row-level security restricts it. */
  tenantUrl: string;
  /** Superuser: bypasses row-level security. */
  adminUrl: string;
  drop(): Promise<void>;
}

/** The environment variables for a command that uses this database. */
export function urlsOf({ applicationUrl, workerUrl, portalUrl, ownerUrl }: TestDatabase) {
  return { DATABASE_URL: applicationUrl, WORKER_DATABASE_URL: workerUrl, PORTAL_DATABASE_URL: portalUrl, MIGRATION_DATABASE_URL: ownerUrl };
}

/** Clones the migrated template. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(inject('template'));
}

/** Creates an empty database. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0');
}

async function create(template: string): Promise<TestDatabase> {
  const name = `spec_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await withAdmin((admin) => inTurn(admin, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy OWNER tutoring_owner`));
  const at = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const processUrls = { api: at(inject('applicationUrl')), worker: at(inject('workerUrl')), portal: at(inject('portalUrl')) };
  return {
    adminUrl: at(inject('adminUrl')),
    ownerUrl: at(inject('ownerUrl')),
    applicationUrl: processUrls.api,
    workerUrl: processUrls.worker,
    portalUrl: processUrls.portal,
    processUrls,
    tenantUrl: at(inject('tenantUrl')),
    drop: () =>
      withAdmin(async (admin) => {
        await connectionsGone(admin, name);
        await inTurn(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

async function withAdmin(work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('adminUrl') });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** PostgreSQL cannot clone a template twice at the same time. Closing the connection releases the lock. */
async function inTurn(admin: pg.Client, statement: string): Promise<void> {
  await admin.query('SELECT pg_advisory_lock(4711)');
  await admin.query(statement);
}

/**
 * Waits a limited time for connections to close. A pool reports its end before its connections have closed; dropping
 * the database would break them, and an unhandled error ends the process. Killed processes may leave connections open.
 */
async function connectionsGone(admin: pg.Client, database: string): Promise<void> {
  const open = `SELECT FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`;
  for (let attempt = 0; attempt < 100 && (await admin.query(open, [database])).rows.length > 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
