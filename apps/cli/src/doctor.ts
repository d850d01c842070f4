import { Redis } from 'ioredis';
import { createTransport } from 'nodemailer';
import type { DataSource } from 'typeorm';
import { Organizations } from '@app/people';
import { type Env, loadEnv } from '@app/config';
import {
  brokenInvariants,
  connect,
  COPIED,
  Database,
  differentFunctions,
  type InvariantName,
  INVARIANTS,
  OF_ROWS,
  inWords as inWordsOf,
  pendingMigrations,
  type ProcessRole,
  ROLE_SETTINGS,
  roleFaults,
  settingFaults,
} from '@app/database';
import { inWords, problemOf, WORKER_SILENCE_MS } from '@app/jobs';
import { STORES } from '@app/storage';
import { examineReplicas } from './examine-replicas.js';
import { rulesOn } from './rules.js';
import { slugOf, slugsOf } from './slugs.js';
import { launcherOf } from './start/data-lock.js';
import { keyFits } from './start/encryption-key.js';
import { mailFolder } from './start/folders.js';
import { usesEmbedded } from './command-context.js';

type Verdict = { status: 'ok' | 'warn' | 'fail'; message: string };

export type Finding = { check: string } & Verdict;

/** A named check. One that throws has failed. */
type Check = [name: string, look: () => Verdict | Promise<Verdict>];

const ok = (message: string): Verdict => ({ status: 'ok', message });
const warn = (message: string): Verdict => ({ status: 'warn', message });
const fail = (message: string): Verdict => ({ status: 'fail', message });

/**
 * Checks everything that the service depends on. Never throws: a check that fails to run is a finding.
 *
 * @param more `verbose` lists everything that is wrong; `deep` reads the rows of all organizations, too
 */
export async function examine(env: Env, more: { verbose?: boolean; deep?: boolean } = {}): Promise<Finding[]> {
  return [
    ...(await examineDatabase(env, more.verbose ?? false)),
    ...(more.deep ? await examineRows(env) : []),
    ...(await run([
      ['redis', () => examineRedis(env)],
      ['replicas', () => judgedReplicas(env)],
      ['mail', () => examineMail(env)],
      ['storage', () => examineStorage(env, 'images')],
      ['private storage', () => examineStorage(env, 'documents')],
      ['encryption key', () => examineKey(env)],
      ['public address', () => examinePublicUrl(env)],
      ['portal address', () => examinePortalUrl(env)],
    ])),
  ];
}

async function run(checks: Check[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, look] of checks) {
    try {
      findings.push({ check, ...(await look()) });
    } catch (error) {
      findings.push({ check, ...fail(inWordsOf(error)) });
    }
  }
  return findings;
}

async function judgedReplicas(env: Env): Promise<Verdict> {
  if (env.get('DATABASE_REPLICA_URLS').length === 0) return ok('off: the primary answers all reads');
  const faults = await examineReplicas(env);
  return faults.length > 0 ? fail(faults.join('; ')) : ok('every one is less than two seconds behind');
}

async function examineDatabase(env: Env, verbose: boolean): Promise<Finding[]> {
  let api: DataSource;
  try {
    api = await connect({ url: env.need('DATABASE_URL'), poolSize: 1, applicationName: 'tutoring doctor' });
  } catch (error) {
    return [{ check: 'database', ...fail(inWordsOf(error)) }];
  }
  try {
    const pending = await pendingMigrations(api);
    const isCurrent = pending.length === 0;
    return await run([
      ['database', () => examineVersion(api)],
      ['migrations', () => (isCurrent ? ok('up to date') : fail(`${pending.length} pending: ${MIGRATE}`))],
      ...(isCurrent ? checksOfCurrent(env, api, verbose) : []),
    ]);
  } finally {
    await api.destroy();
  }
}

const MIGRATE = 'run "npm run cli -- migrate"';
const RECOUNT = 'run "npm run cli -- recount"';

/** The checks of a database with all migrations: as each role whose URL is configured here, and as the owner. */
function checksOfCurrent(env: Env, api: DataSource, verbose: boolean): Check[] {
  const as = (
    name: string,
    url: string | null,
    look: (as: DataSource) => Promise<Verdict>,
    direct?: boolean,
  ): Check[] => (url ? [[name, () => connectedTo(url, look, direct)]] : []);
  return [
    ['role of the api', () => examineRole(api, 'api', verbose)],
    ...as('role of the worker', env.get('WORKER_DATABASE_URL'), (worker) => examineRole(worker, 'worker', verbose)),
    ...as('role of the portal', env.get('PORTAL_DATABASE_URL'), (portal) => examineRole(portal, 'portal', verbose)),
    ...as('role of the owner', env.get('MIGRATION_DATABASE_URL'), examineOwner, true),
    ...as('functions', env.migrationUrl, examineFunctions),
    ...as('totals', env.migrationUrl, (owner) =>
      examineDerived(owner, env, ['totals of lists'], 'the counters match the lists'),
    ),
    ...as('copies', env.migrationUrl, (owner) =>
      examineDerived(owner, env, Object.values(COPIED), 'the copies that lists read match their sources'),
    ),
    ['worker', () => examineWorker(api)],
    ['events', () => examineFeed(api)],
  ];
}

async function connectedTo<T>(url: string, look: (as: DataSource) => Promise<T>, direct = false): Promise<T> {
  const dataSource = await connect({ url, poolSize: 1, applicationName: 'tutoring doctor', direct });
  return look(dataSource).finally(() => dataSource.destroy());
}

async function examineVersion(connection: DataSource): Promise<Verdict> {
  const [server] = await connection.query<{ server_version: string }[]>('SHOW server_version');
  return ok(`PostgreSQL ${server?.server_version ?? 'unknown'} is reachable`);
}

async function examineRole(connection: DataSource, role: ProcessRole, verbose: boolean): Promise<Verdict> {
  const faults = await roleFaults(connection, role, verbose ? Infinity : MOST_DIFFERENCES);
  if (faults.length > 0) return fail(faults.join('; '));
  return ok(`${ROLE_SETTINGS[role]} has exactly the privileges it needs`);
}

async function examineOwner(owner: DataSource): Promise<Verdict> {
  const query = 'SELECT rolsuper OR rolbypassrls OR rolcreaterole AS more FROM pg_roles WHERE rolname = current_user';
  const [role] = await owner.query<{ more: boolean }[]>(query);
  const subject = 'the role in MIGRATION_DATABASE_URL';
  if (role?.more) return warn(`${subject} has SUPERUSER, BYPASSRLS or CREATEROLE, which it does not need`);
  const faults = await settingFaults(owner, 'owner');
  return faults.length > 0 ? warn(faults.join('; ')) : ok(`${subject} is not a superuser`);
}

async function examineFunctions(owner: DataSource): Promise<Verdict> {
  const different = await owner.transaction((manager) => differentFunctions(manager));
  const names = different.map(({ name }) => name).join(', ');
  return names ? fail(`not those of this build: ${names} (${MIGRATE})`) : ok('as in this build');
}

/** Number of differences shown, which is enough to know where to look. */
const MOST_DIFFERENCES = 5;

/** What breaks these invariants, in words, which begin with the invariant's name. */
async function brokenIn(owner: DataSource, env: Env, names: readonly InvariantName[]): Promise<[string, string][]> {
  const broken = await owner.transaction(async (manager) => {
    await manager.query('SET LOCAL app.maintenance = on');
    return brokenInvariants((sql, values) => manager.query(sql, values), null, names);
  });
  if (broken.length === 0) return [];
  const slugs = slugsOf(await (await rulesOn(new Database(owner), env)).get(Organizations).list());
  return broken.map(({ name, organization_id: id, count, ids }) => {
    const first = `${count} of ${slugOf(id, slugs)} break it${count > ids.length ? ', the first' : ''}: ${ids.join(', ')}`;
    return [name, `${INVARIANTS[name].says} ${first}`];
  });
}

/** What lists read of other rows, which `recount` corrects. */
async function examineDerived(owner: DataSource, env: Env, names: InvariantName[], right: string): Promise<Verdict> {
  try {
    const wrong = (await brokenIn(owner, env, names)).slice(0, MOST_DIFFERENCES).map(([, words]) => words);
    return wrong.length === 0 ? ok(right) : fail(`${wrong.join('; ')}: ${RECOUNT}`);
  } catch (error) {
    return warn(`could not be compared: ${(error as Error).message}`);
  }
}

/** Whether the rows of all organizations add up. Each invariant that is broken is a finding. */
async function examineRows(env: Env): Promise<Finding[]> {
  const check = 'rows';
  try {
    const broken = await connectedTo(env.migrationUrl, (owner) => brokenIn(owner, env, OF_ROWS));
    if (broken.length === 0) return [{ check, ...ok(`all ${OF_ROWS.length} invariants hold`) }];
    return broken.map(([name, words]) => ({ check: `${check}: ${name}`, ...fail(words) }));
  } catch (error) {
    return [{ check, ...fail(inWordsOf(error)) }];
  }
}

async function examineWorker(connection: DataSource): Promise<Verdict> {
  const [row] = await connection.query<{ fresh: boolean }[]>(
    `SELECT coalesce(max(seen_at) > now() - $1 * interval '1 millisecond', false) AS fresh FROM worker_heartbeats`,
    [WORKER_SILENCE_MS],
  );
  return row?.fresh ? ok('running') : warn(`not seen for ${WORKER_SILENCE_MS / 1000} s: is it running?`);
}

/** How far the feed may be behind (s). */
const MOST_LAG = 60;

async function examineFeed(connection: DataSource): Promise<Verdict> {
  const [row] = await connection.query<{ lag: number }[]>('SELECT event_lag() AS lag');
  const lag = Math.round(row!.lag);
  return lag <= MOST_LAG ? ok('the feed is up to date') : warn(`the feed is ${lag} s behind: does the worker run?`);
}

async function examineRedis(env: Env): Promise<Verdict> {
  const url = env.get('REDIS_URL');
  if (!url) return ok('not set; one API and one worker do not need it');
  const once = { lazyConnect: true, connectTimeout: 2_000, maxRetriesPerRequest: 0, retryStrategy: () => null };
  const redis = new Redis(url, once);
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const [, policy] = (await redis.config('GET', 'maxmemory-policy')) as string[];
    if (policy === 'noeviction') return ok('reachable');
    return fail(`maxmemory-policy is ${policy ?? 'unknown'}: jobs could be lost; set it to noeviction`);
  } catch (error) {
    return fail(`cannot connect to REDIS_URL: ${(error as Error).message}`);
  } finally {
    redis.disconnect();
  }
}

/** How long to wait for a mail server's greeting (ms). */
const GREETING_TIMEOUT_MS = 5_000;

async function examineMail(env: Env): Promise<Verdict> {
  const url = env.get('SMTP_URL');
  // Without a mail server, `npm start` writes mails to files. Nothing else uses the embedded database.
  if (!url && (usesEmbedded(loadEnv()) || launcherOf(env.get('DATA_DIR')))) {
    return ok(`mails are written to ${mailFolder(env)}`);
  }
  if (!url) return warn('SMTP_URL is not set: no email is sent, so share the links yourself');
  if (url.startsWith('file:')) return ok(`mails are written to ${url}`);
  const timeouts = { connectionTimeout: GREETING_TIMEOUT_MS, greetingTimeout: GREETING_TIMEOUT_MS };
  const transport = createTransport({ url, ...timeouts, socketTimeout: GREETING_TIMEOUT_MS });
  try {
    await transport.verify();
    return ok('the mail server is reachable');
  } catch (error) {
    return fail(`SMTP_URL does not work: ${inWords(problemOf(error))}`);
  } finally {
    transport.close();
  }
}

async function examineStorage(env: Env, what: keyof typeof STORES): Promise<Verdict> {
  const [open, bucket] = STORES[what];
  const name = env.get('STORAGE') === 's3' ? env.get(bucket) : 'DATA_DIR';
  try {
    await (await open(env)).check();
    return ok(`${what} are stored in ${name}`);
  } catch (error) {
    return (name === null ? warn : fail)(`${what} cannot be stored in ${name ?? 'S3'}: ${(error as Error).message}`);
  }
}

async function examineKey(env: Env): Promise<Verdict> {
  const key = env.get('ENCRYPTION_KEY');
  if (!key) {
    return warn('ENCRYPTION_KEY is not set: "npm start" generates one, but every other way of starting requires it');
  }
  try {
    const fits = await keyFits(env, key);
    if (fits === false) return fail('does not decrypt the stored data: restore the previous ENCRYPTION_KEY');
    return ok(fits ? 'decrypts the stored data' : 'set');
  } catch (error) {
    return warn(`could not be checked: ${inWordsOf(error)}`);
  }
}

function examinePublicUrl(env: Env): Verdict {
  const url = env.get('PUBLIC_URL');
  return url ? ok(url) : warn('PUBLIC_URL is not set: image URLs point to localhost');
}

function examinePortalUrl(env: Env): Verdict {
  const url = env.get('APP_URL');
  if (!url) return warn('APP_URL is not set: links in mails point to localhost');
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || hostname === 'localhost') return ok(url);
  return warn(`${url} is not https: nobody can sign in there`);
}
