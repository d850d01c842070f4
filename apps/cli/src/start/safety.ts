import pg from 'pg';
import type { Env } from '@app/config';
import { connect, type ProcessRole, ROLE_SETTINGS, rolePowers } from '@app/database';
import { Failure } from '../output.js';
import { RESTRICTED } from '../postgres/roles.js';

const ROLES = Object.keys(ROLE_SETTINGS) as ProcessRole[];

/** Rejects a database that the processes would refuse in production, before changing it. @throws Failure with the SQL that helps */
export async function refuseUnsafe(env: Env): Promise<void> {
  const urls = { owner: env.migrationUrl, ...env.processUrls };
  const users = Object.values(urls).map((url) => decodeURIComponent(new URL(url).username));
  const database = decodeURIComponent(new URL(urls.owner).pathname.slice(1)) || users[0]!;
  if (new Set(users).size < users.length) {
    // Reports an unreachable database first.
    await (await connect({ url: urls.owner, poolSize: 1, applicationName: 'tutoring cli', direct: true })).destroy();
    throw new Failure(...ownRoles(database));
  }
  const faults: string[] = [];
  for (const role of ROLES) {
    const connection = await connect({ url: urls[role], poolSize: 1, applicationName: 'tutoring cli' });
    faults.push(...(await rolePowers(connection, role).finally(() => connection.destroy())));
  }
  faults.push(...(await ownerFaults(urls.owner, database)));
  if (faults.length > 0)
    throw new Failure('The database is not safe, so nothing was changed:', ...faults.map((fault) => `  ${fault}`));
}

async function ownerFaults(url: string, database: string): Promise<string[]> {
  const owner = await connect({ url, poolSize: 1, applicationName: 'tutoring cli', direct: true });
  try {
    const [role] = await owner.query<{ name: string; creates: boolean }[]>(
      `SELECT current_user AS name, has_schema_privilege('public', 'CREATE') AS creates`,
    );
    if (role!.creates) return [];
    const [to, name] = [database, role!.name].map((part) => pg.escapeIdentifier(part));
    return [`the role ${name} of MIGRATION_DATABASE_URL cannot create tables (ALTER DATABASE ${to} OWNER TO ${name})`];
  } finally {
    await owner.destroy();
  }
}

function ownRoles(database: string): string[] {
  const name = pg.escapeIdentifier(database);
  return [
    'The database is not safe, so nothing was changed: the command line, the API, the worker and the portal each need their own role, but these URLs share one.',
    'Set ADMIN_DATABASE_URL and run "npm run cli -- roles", or create the roles as a superuser:',
    ...['tutoring_owner', 'tutoring_app', 'tutoring_worker', 'tutoring_portal'].map(
      (role) => `  CREATE ROLE ${role} ${RESTRICTED} PASSWORD '…';`,
    ),
    `  ALTER DATABASE ${name} OWNER TO tutoring_owner;`,
    `  REVOKE ALL ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO tutoring_app, tutoring_worker, tutoring_portal;`,
    'Then set MIGRATION_DATABASE_URL, DATABASE_URL, WORKER_DATABASE_URL and PORTAL_DATABASE_URL to their URLs, in this order.',
  ];
}
