import { Redis } from 'ioredis';
import { createTransport } from 'nodemailer';
import type { DataSource } from 'typeorm';
import { type Env, loadEnv } from '@app/config';
import {
  connect,
  Database,
  differentFunctions,
  inWords as inWordsOf,
  pendingMigrations,
  type ProcessRole,
  ROLE_SETTINGS,
  roleFaults,
  wrongCopies,
  wrongListCounts,
} from '@app/database';
import { inWords, problemOf, WORKER_SILENCE_MS } from '@app/jobs';
import { storageOf } from '@app/storage';
import { slugOf, slugsOf } from './slugs.js';
import { launcherOf } from './start/data-lock.js';
import { keyFits } from './start/encryption-key.js';
import { mailFolder } from './start/folders.js';
import { organizationsOf, usesEmbedded } from './command-context.js';

export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
}

/** Checks everything that the service depends on. Never throws: a check that fails to run is a finding. */
export async function examine(env: Env): Promise<Finding[]> {
  const services = [await examineRedis(env), await examineMail(env), await examineStorage(env)];
  return [...(await examineDatabase(env)), ...services, await examineKey(env), ...examineSettings(env)];
}

async function examineDatabase(env: Env): Promise<Finding[]> {
  let dataSource: DataSource;
  try {
    dataSource = await connect({ url: env.need('DATABASE_URL'), poolSize: 1, applicationName: 'tutoring doctor' });
  } catch (error) {
    return [{ check: 'database', status: 'fail', message: inWordsOf(error) }];
  }
  try {
    const [server] = await dataSource.query<{ version: string }[]>('SHOW server_version');
    const version = Object.values(server ?? {})[0] ?? 'unknown';
    const pending = await pendingMigrations(dataSource);
    return [
      { check: 'database', status: 'ok', message: `PostgreSQL ${version} is reachable` },
      pending.length > 0
        ? { check: 'migrations', status: 'fail', message: `${pending.length} pending: run "npm run cli -- migrate"` }
        : { check: 'migrations', status: 'ok', message: 'up to date' },
      ...(pending.length > 0 ? [] : [await examineRole(dataSource, 'api'), ...(await examineOthers(env))]),
      ...(pending.length > 0 ? [] : [await examineWorker(dataSource)]),
    ];
  } finally {
    await dataSource.destroy();
  }
}

/** Checks the other roles whose URLs are configured here, and makes the checks that only the owner can. */
async function examineOthers(env: Env): Promise<Finding[]> {
  const worker = env.get('WORKER_DATABASE_URL');
  const portal = env.get('PORTAL_DATABASE_URL');
  const owner = env.get('MIGRATION_DATABASE_URL');
  return [
    ...(worker ? [await examineAs(worker, 'role of the worker', (as) => examineRole(as, 'worker'))] : []),
    ...(portal ? [await examineAs(portal, 'role of the portal', (as) => examineRole(as, 'portal'))] : []),
    ...(owner ? [await examineAs(owner, 'role of the owner', examineOwner)] : []),
    await examineAs(env.migrationUrl, 'functions', examineFunctions),
    await examineAs(env.migrationUrl, 'totals', (as) => examineCounts(as, env)),
    await examineAs(env.migrationUrl, 'copies', examineCopies),
  ];
}

async function examineRole(connection: DataSource, role: ProcessRole): Promise<Finding> {
  const check = `role of the ${role}`;
  const faults = await roleFaults(connection, role);
  return faults.length > 0
    ? { check, status: 'fail', message: faults.join('; ') }
    : { check, status: 'ok', message: `${ROLE_SETTINGS[role]} has exactly the privileges it needs` };
}

/** Runs a check as another role, on a separate connection. */
async function examineAs(url: string, check: string, look: (as: DataSource) => Promise<Finding>): Promise<Finding> {
  try {
    const dataSource = await connect({ url, poolSize: 1, applicationName: 'tutoring doctor', timeouts: false });
    return await look(dataSource).finally(() => dataSource.destroy());
  } catch (error) {
    return { check, status: 'fail', message: inWordsOf(error) };
  }
}

async function examineOwner(owner: DataSource): Promise<Finding> {
  const check = 'role of the owner';
  const [role] = await owner.query<{ more: boolean }[]>(
    'SELECT rolsuper OR rolbypassrls OR rolcreaterole AS more FROM pg_roles WHERE rolname = current_user',
  );
  return role?.more
    ? {
        check,
        status: 'warn',
        message: 'the role in MIGRATION_DATABASE_URL has SUPERUSER, BYPASSRLS or CREATEROLE, which it does not need',
      }
    : { check, status: 'ok', message: 'the role in MIGRATION_DATABASE_URL is not a superuser' };
}

async function examineFunctions(owner: DataSource): Promise<Finding> {
  const check = 'functions';
  const different = await owner.transaction((manager) => differentFunctions(manager));
  const names = different.map(({ name }) => name).join(', ');
  return different.length > 0
    ? { check, status: 'fail', message: `not those of this build: ${names} (run "npm run cli -- migrate")` }
    : { check, status: 'ok', message: 'as in this build' };
}

/** Number of differences shown, which is enough to know where to look. */
const MOST_DIFFERENCES = 5;

async function examineCounts(owner: DataSource, env: Env): Promise<Finding> {
  try {
    const wrong = await wrongListCounts(owner, MOST_DIFFERENCES);
    if (wrong.length === 0) return { check: 'totals', status: 'ok', message: 'the counters match the lists' };
    const slugs = slugsOf(await organizationsOf(new Database(owner), env).list());
    const listed = wrong.map(
      (it) =>
        `the total of ${it.list} for ${slugOf(it.organization_id, slugs)} is ${it.counter}, but there are ${it.actual} rows`,
    );
    return { check: 'totals', status: 'fail', message: `${listed.join('; ')}: run "npm run cli -- recount"` };
  } catch (error) {
    return { check: 'totals', status: 'warn', message: `could not be counted: ${(error as Error).message}` };
  }
}

async function examineCopies(owner: DataSource): Promise<Finding> {
  const check = 'copies';
  try {
    const wrong = await wrongCopies(owner, MOST_DIFFERENCES);
    if (wrong.length === 0) return { check, status: 'ok', message: 'the copies that lists read match their sources' };
    const listed = wrong.map(({ copy, id }) => `${copy} of ${id} is wrong`);
    return { check, status: 'fail', message: `${listed.join('; ')}: run "npm run cli -- recount"` };
  } catch (error) {
    return { check, status: 'warn', message: `could not be compared: ${(error as Error).message}` };
  }
}

async function examineWorker(dataSource: DataSource): Promise<Finding> {
  const [row] = await dataSource.query<{ fresh: boolean }[]>(
    `SELECT coalesce(max(seen_at) > now() - $1 * interval '1 millisecond', false) AS fresh FROM worker_heartbeats`,
    [WORKER_SILENCE_MS],
  );
  return row?.fresh
    ? { check: 'worker', status: 'ok', message: 'running' }
    : { check: 'worker', status: 'warn', message: `not seen for ${WORKER_SILENCE_MS / 1000} s: is it running?` };
}

async function examineRedis(env: Env): Promise<Finding> {
  const url = env.get('REDIS_URL');
  if (!url) return { check: 'redis', status: 'ok', message: 'not set; one API and one worker do not need it' };
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const [, policy] = (await redis.config('GET', 'maxmemory-policy')) as string[];
    return policy === 'noeviction'
      ? { check: 'redis', status: 'ok', message: 'reachable' }
      : {
          check: 'redis',
          status: 'fail',
          message: `maxmemory-policy is ${policy ?? 'unknown'}: jobs could be lost; set it to noeviction`,
        };
  } catch (error) {
    return { check: 'redis', status: 'fail', message: `cannot connect to REDIS_URL: ${(error as Error).message}` };
  } finally {
    redis.disconnect();
  }
}

/** How long to wait for a mail server's greeting (ms). */
const GREETING_TIMEOUT_MS = 5_000;

async function examineMail(env: Env): Promise<Finding> {
  const url = env.get('SMTP_URL');
  // Without a mail server, `npm start` writes mails to files. Nothing else uses the embedded database.
  if (!url && (usesEmbedded(loadEnv()) || launcherOf(env.get('DATA_DIR')))) {
    return { check: 'mail', status: 'ok', message: `mails are written to ${mailFolder(env)}` };
  }
  if (!url)
    return {
      check: 'mail',
      status: 'warn',
      message: 'SMTP_URL is not set: no email is sent, so share the links yourself',
    };
  if (url.startsWith('file:')) return { check: 'mail', status: 'ok', message: `mails are written to ${url}` };
  const timeouts = { connectionTimeout: GREETING_TIMEOUT_MS, greetingTimeout: GREETING_TIMEOUT_MS };
  const transport = createTransport({ url, ...timeouts, socketTimeout: GREETING_TIMEOUT_MS });
  try {
    await transport.verify();
    return { check: 'mail', status: 'ok', message: 'the mail server is reachable' };
  } catch (error) {
    return { check: 'mail', status: 'fail', message: `SMTP_URL does not work: ${inWords(problemOf(error))}` };
  } finally {
    transport.close();
  }
}

async function examineStorage(env: Env): Promise<Finding> {
  const where = env.get('STORAGE') === 's3' ? `the bucket ${env.get('S3_BUCKET') ?? ''}` : 'DATA_DIR';
  try {
    const storage = await storageOf(env);
    await storage.check();
    return { check: 'storage', status: 'ok', message: `images are stored in ${where}` };
  } catch (error) {
    return {
      check: 'storage',
      status: 'fail',
      message: `images cannot be stored in ${where}: ${(error as Error).message}`,
    };
  }
}

async function examineKey(env: Env): Promise<Finding> {
  const check = 'encryption key';
  const key = env.get('ENCRYPTION_KEY');
  if (!key) {
    const message = 'ENCRYPTION_KEY is not set: "npm start" generates one, but every other way of starting requires it';
    return { check, status: 'warn', message };
  }
  try {
    const fits = await keyFits(env, key);
    return fits === false
      ? { check, status: 'fail', message: 'does not decrypt the stored data: restore the previous ENCRYPTION_KEY' }
      : { check, status: 'ok', message: fits ? 'decrypts the stored data' : 'set' };
  } catch (error) {
    return { check, status: 'warn', message: `could not be checked: ${inWordsOf(error)}` };
  }
}

function examineSettings(env: Env): Finding[] {
  return [
    env.get('PUBLIC_URL')
      ? { check: 'public address', status: 'ok', message: env.get('PUBLIC_URL')! }
      : { check: 'public address', status: 'warn', message: 'PUBLIC_URL is not set: image URLs point to localhost' },
    examinePortalUrl(env),
  ];
}

function examinePortalUrl(env: Env): Finding {
  const check = 'portal address';
  const url = env.get('APP_URL');
  if (!url) return { check, status: 'warn', message: 'APP_URL is not set: links in mails point to localhost' };
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || hostname === 'localhost'
    ? { check, status: 'ok', message: url }
    : { check, status: 'warn', message: `${url} is not https: nobody can sign in there` };
}
