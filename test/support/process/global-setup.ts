import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '@app/database';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../apps/cli/src/postgres/embedded-postgres.js';

const BUILD = fileURLToPath(new URL('../../../scripts/build-if-stale.js', import.meta.url));

declare module 'vitest' {
  export interface ProvidedContext {
    /** The superuser, in database postgres. */
    adminUrl: string;
    ownerUrl: string;
    applicationUrl: string;
    workerUrl: string;
    portalUrl: string;
    /** A role with all rights on rows: only row-level security restricts it. */
    tenantUrl: string;
    /** The migrated database that specs clone. */
    template: string;
    /** Working directory of processes under test: it has no `.env`, and is deleted after the run. */
    scratch: string;
  }
}

/** The PostgreSQL of most specs, from the npm package. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return serve(project);
}

/**
 * Starts one real PostgreSQL for a project's whole run. Its data is deleted afterwards, so nothing is synced to disk.
 * @param binDirectory of its programs, if they are not the npm package's
 */
export async function serve(project: TestProject, binDirectory?: string): Promise<() => Promise<void>> {
  // The process that decodes images runs from dist. `npm run schema` writes types without which the build may fail.
  if (process.env.npm_lifecycle_event !== 'schema') execFileSync(process.execPath, [BUILD], { stdio: 'inherit' });
  const dataDir = mkdtempSync(join(roomyFolder(), 'tutoring-test-'));
  // As root, the server runs as another account, which has to enter the folder.
  chmodSync(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ...(binDirectory && { binDirectory }),
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      max_connections: '300',
      // DROP DATABASE waits for connections that are being authenticated: one that stalls would hold up every spec.
      authentication_timeout: '10s',
      // Most of what a spec file costs the server is the copy of its database.
      wal_level: 'minimal',
      max_wal_senders: '0',
      checkpoint_timeout: '1h',
    },
  });
  process.stdout.write(`Specs of "${project.name}" run on PostgreSQL ${postgres.version} (${binDirectory ?? 'embedded'})\n`);
  const template = 'template_migrated';
  await createTemplate(postgres, template);
  project.provide('adminUrl', postgres.adminUrl);
  project.provide('ownerUrl', postgres.ownerUrl);
  project.provide('applicationUrl', postgres.applicationUrl);
  project.provide('workerUrl', postgres.workerUrl);
  project.provide('portalUrl', postgres.portalUrl);
  project.provide('tenantUrl', asTenant(postgres.applicationUrl));
  project.provide('template', template);
  const scratch = join(dataDir, 'scratch');
  mkdirSync(scratch, { recursive: true });
  project.provide('scratch', scratch);
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
    // When this runs as root, the data directory is elsewhere if other accounts cannot enter the checkout.
    if (!postgres.dataDirectory.startsWith(dataDir)) rmSync(dirname(postgres.dataDirectory), { recursive: true, force: true });
  };
}

/** Memory, where there is plenty: copying a database of 1,200 files takes a third of the time that it takes on a disk. */
function roomyFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 6e9 ? memory : tmpdir();
}

async function createTemplate(postgres: EmbeddedPostgres, name: string): Promise<void> {
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} OWNER tutoring_owner`);
  await admin.end();
  await migrate(withDatabase(postgres.ownerUrl, name), {
    api: withDatabase(postgres.applicationUrl, name),
    worker: withDatabase(postgres.workerUrl, name),
    portal: withDatabase(postgres.portalUrl, name),
  });
  await addTenant(withDatabase(postgres.adminUrl, name));
}

/** Creates the role for tests of row-level security, which must not rely on grants. */
async function addTenant(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`
    CREATE ROLE spec_tenant LOGIN PASSWORD 'spec_tenant';
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO spec_tenant;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO spec_tenant`);
  await admin.end();
}

function asTenant(url: string): string {
  return Object.assign(new URL(url), { username: 'spec_tenant', password: 'spec_tenant' }).href;
}

function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}
