import { createHmac, createHash, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { DatabaseFault, lockNumber, type SessionSetting, type SettledRole, settingsOf } from '@app/database';
import { withClient } from './client.js';

const { escapeIdentifier, escapeLiteral } = pg;

/** The database URLs of the four roles, each with its password. All must name the same database. */
export type RoleUrls = Record<SettledRole, string>;

/** The roles' attributes, in the syntax of CREATE ROLE. */
export const RESTRICTED = 'LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB NOREPLICATION';

/** Creates the roles and their database, or restores their attributes, settings and passwords. `migrate` grants the rights. @throws Error */
export async function provisionRoles(adminUrl: string, urls: RoleUrls): Promise<void> {
  const names = ['owner', 'api', 'worker', 'portal'] as const;
  const roles = names.map((role) => [role, partsOf(urls[role])] as const);
  const [database = '', ...others] = new Set(roles.map(([, parts]) => parts.database));
  if (others.length > 0) throw new Error('The URLs of the four roles must name the same database.');
  if (new Set(roles.map(([, { user }]) => user)).size < roles.length) {
    const text = 'The owner, the API, the worker and the portal each need their own role: use four different users.';
    throw new Error(text);
  }
  const provision = async (client: pg.Client) => {
    // Processes that start at the same moment take turns. Closing the connection releases the lock.
    await client.query('SELECT pg_advisory_lock($1)', [lockNumber('roles')]);
    for (const [role, { user, password }] of roles) {
      const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
      const statement = `${rowCount ? 'ALTER' : 'CREATE'} ROLE ${escapeIdentifier(user)} ${RESTRICTED}`;
      await client.query(`${statement} PASSWORD ${escapeLiteral(scramOf(password))}`);
      for (const { name, value } of (await client.query<SessionSetting>(settingsOf(role))).rows)
        await client.query(`ALTER ROLE ${escapeIdentifier(user)} SET ${name} = ${escapeLiteral(value)}`);
    }
    const [owner, ...processes] = roles.map(([, { user }]) => escapeIdentifier(user));
    const name = escapeIdentifier(database);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await client.query(`CREATE DATABASE ${name} OWNER ${owner} ENCODING 'UTF8' TEMPLATE template0`);
    await client.query(`ALTER DATABASE ${name} OWNER TO ${owner}`);
    await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC, ${processes.join(', ')}`);
    await client.query(`GRANT CONNECT ON DATABASE ${name} TO ${processes.join(', ')}`);
  };
  await withClient(adminUrl, provision).catch((error: unknown) => {
    throw DatabaseFault.of(error, adminUrl) ?? error;
  });
}

function partsOf(url: string): { user: string; password: string; database: string } {
  const { username, password, pathname } = new URL(url);
  const parts = { user: username, password, database: pathname.slice(1) };
  const [user = '', secret = '', database = ''] = Object.values(parts).map(decodeURIComponent);
  if (!user || !secret || !database) {
    throw new Error(
      'The URL of each role must contain a user, a password and a database: postgres://user:password@host/database',
    );
  }
  return { user, password: secret, database };
}

const ITERATIONS = 4096;

/** How PostgreSQL stores a password (SCRAM-SHA-256, RFC 5803). Computed here, so that no statement or log contains the password. */
export function scramOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
