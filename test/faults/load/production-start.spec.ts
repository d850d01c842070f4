import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../apps/cli/src/postgres/embedded-postgres.js';
import { ApiProcess } from '../../support/http/api-process.js';
import { TestNginx } from '../../support/load/nginx.js';
import { TestBrowser } from '../../support/portal/browser.js';
import { type CliResult, results, runCli } from '../../support/process/cli.js';
import { findDebianPostgres } from '../../support/process/debian-postgres.js';
import { freePorts } from '../../support/process/free-ports.js';
import { NO_MAILBOX, SOMETHING_ELSE } from '../../support/worker/mail-replies.js';
import { TestRedis } from '../../support/worker/redis.js';
import { type Behaviour, TestSmtp } from '../../support/worker/smtp.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

const OWNER = 'owner@example.org';
const STAGES = ['atRecipient', 'atMessage'] as const;

/** Whom each reply of the corpus is about: one address for RCPT TO, one for the end of DATA. */
const corpus = [NO_MAILBOX, SOMETHING_ELSE].flatMap((replies, kind) =>
  replies.flatMap(([code, message], index) =>
    STAGES.map((stage) => ({ address: `${stage.toLowerCase()}-${kind}-${index}@example.org`, stage, gone: kind === 0, reply: { code, message } })),
  ),
);
const gone = corpus.filter((it) => it.gone).map(({ address }) => address);
const valid = corpus.filter((it) => !it.gone).map(({ address }) => address);

/** What runs, the last first. */
const started: { stop(): Promise<unknown> }[] = [];
async function start<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
  const it = await starting;
  started.unshift(it);
  return it;
}

let postgres: EmbeddedPostgres;
let smtp: TestSmtp;
let nginx: TestNginx;
/** The superuser, whom no row is hidden from. */
let admin: pg.Client;
let settings: Record<string, string>;
const processes: { name: string; port: number }[] = [];
let key = '';
/** The students, by address. */
const ids = new Map<string, string>();

const cli = (...args: string[]): Promise<CliResult> => runCli(args, settings);
const url = (name: 'api' | 'portal') => `http://127.0.0.1:${nginx.port + (name === 'portal' ? 1 : 0)}`;

/** As docs/deploy.md and docs/systemd.md say: each process with its own role and file. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tutoring-production-'));
  postgres = await start(startEmbeddedPostgres({ dataDir: folder, binDirectory: findDebianPostgres() }));
  started.push({
    stop: async () => {
      for (const data of [folder, dirname(postgres.dataDirectory)]) rmSync(data, { recursive: true, force: true });
      await Promise.resolve();
    },
  });
  smtp = await start(TestSmtp.start());
  const redis = await start(TestRedis.start());
  const [site, metrics] = [await freePorts(2), await freePorts(1)];
  const database = ([name, role]: [string, string]) => {
    const { host } = new URL(postgres.adminUrl);
    return [name, `postgres://site_${role}:${randomBytes(12).toString('hex')}@${host}/site`];
  };
  const roles = { MIGRATION_DATABASE_URL: 'owner', DATABASE_URL: 'api', WORKER_DATABASE_URL: 'worker', PORTAL_DATABASE_URL: 'portal' };
  const urls = Object.fromEntries(Object.entries(roles).map(database)) as Record<keyof typeof roles, string>;
  const shared = {
    NODE_ENV: 'production',
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    PUBLIC_URL: `http://127.0.0.1:${site}`,
    APP_URL: `http://127.0.0.1:${site + 1}`,
    SMTP_URL: smtp.url,
    MAIL_FROM: 'Example Tutoring <no-reply@example.org>',
    REDIS_URL: redis.url,
    TRUST_PROXY: 'true',
    DATA_DIR: join(folder, 'files'),
  };
  settings = { ...shared, ...urls };
  const { DATABASE_URL, WORKER_DATABASE_URL, PORTAL_DATABASE_URL } = urls;
  for (const command of [['roles'], ['migrate']]) {
    const result = await runCli(command, { ...settings, ADMIN_DATABASE_URL: postgres.adminUrl });
    expect([command, result.code, result.stderr]).toEqual([command, 0, '']);
  }
  const api = await start(ApiProcess.start({ ...shared, DATABASE_URL }));
  await start(WorkerProcess.start({ ...shared, WORKER_DATABASE_URL, METRICS_PORT: String(metrics) }));
  const portal = await start(ApiProcess.start({ ...shared, PORTAL_DATABASE_URL }, [], 'portal'));
  nginx = await start(TestNginx.start(site, [api.port], undefined, portal.port));
  processes.push({ name: 'api', port: api.port }, { name: 'portal', port: portal.port }, { name: 'worker', port: metrics });
  admin = new pg.Client({ connectionString: Object.assign(new URL(postgres.adminUrl), { pathname: '/site' }).href });
  await admin.connect();
  started.unshift({ stop: () => admin.end() });
});
afterAll(async () => {
  for (const it of started) await it.stop();
});

/** The last mail to each address. */
async function mails(addresses: string[]): Promise<Record<string, { status: string; problem: string | null; attempts: number }>> {
  const { rows } = await admin.query<{ address: string; status: string; problem: string | null; attempts: number }>(
    `SELECT DISTINCT ON (email_normalized) email_normalized AS address, status, last_error AS problem, attempts FROM outbox
     WHERE email_normalized = ANY ($1) ORDER BY email_normalized, created_at DESC, id DESC`,
    [addresses],
  );
  return Object.fromEntries(rows.map(({ address, ...mail }) => [address, mail]));
}

/** Waits until the last mail to each address has this status. */
const become = (status: string, addresses: string[]) =>
  vi.waitFor(
    async () => {
      const found = Object.entries(await mails(addresses)).map(([address, mail]) => [address, mail.status]);
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(addresses.map((address) => [address, status])));
    },
    { timeout: 120_000, interval: 500 },
  );

/** Asks the API through nginx, as a program of the organization does. */
async function ask<Answer>(path: string, body: object): Promise<Answer> {
  const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url('api')}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Answer;
}

/** Sends new links to these people. @returns the addresses that are mailed */
async function again(addresses: string[]): Promise<string[]> {
  const mailed: string[] = [];
  for (const address of addresses) {
    if ((await ask<{ sent: boolean }>(`students/${ids.get(address)!}/send-invite`, {})).sent) mailed.push(address);
  }
  return mailed;
}

/** As if a day had passed. */
const aDay = async () => {
  await admin.query(`UPDATE suppressions SET refused_at = refused_at - interval '1 day'`);
  await admin.query(`UPDATE outbox SET created_at = created_at - interval '1 day'`);
};

describe('a start as in production, on Debian’s PostgreSQL, behind nginx', () => {
  it('is ready, and doctor finds nothing', async () => {
    const { rows } = await admin.query<{ role: string }>(
      `SELECT rolname AS role FROM pg_roles WHERE rolname LIKE 'site_%' AND 'jit=off' = ANY (rolconfig) ORDER BY 1`,
    );
    expect(rows.map(({ role }) => role)).toEqual(['site_api', 'site_owner', 'site_portal', 'site_worker']);
    const { rows: server } = await admin.query('SELECT pg_jit_available() AS compiles');
    expect(server).toEqual([{ compiles: true }]);
    await vi.waitFor(
      async () => {
        const ready = await fetch(`${url('api')}/health/ready`);
        expect([ready.status, await ready.json()]).toEqual([
          200,
          expect.objectContaining({ status: 'ok', checks: { database: 'up', migrations: 'up', redis: 'up', worker: 'up' } }),
        ]);
      },
      { timeout: 60_000 },
    );
    expect((await fetch(`${url('portal')}/health/ready`)).status).toBe(200);
    const { code, stdout } = await cli('--json', 'doctor');
    // The certificate is the one thing that this start does not have.
    const found = results(stdout).filter(({ status }) => status !== 'ok');
    expect([code, found]).toEqual([0, [expect.objectContaining({ check: 'portal address', status: 'warn' })]]);
  });

  it('its first owner signs in with the mailed link, and makes a key', async () => {
    expect((await cli('org', 'create', '--name', 'My Organization', '--slug', 'mine', '--timezone', 'Europe/Paris', '--currency', 'EUR')).code).toBe(
      0,
    );
    const created = await cli('owner', 'create', '--org', 'mine', '--email', OWNER);
    expect([created.code, created.stdout.includes('/password/')]).toEqual([0, false]);
    await smtp.taken(1, OWNER);
    const link = /http:\/\/\S+\/password\/[\w-]+/.exec(smtp.to(OWNER)[0]!.text)![0];
    expect(link.startsWith(`${url('portal')}/`)).toBe(true);
    const browser = await start(TestBrowser.start());
    const page = await browser.visit({ url: url('portal') });
    await page.goto(link);
    await page.getByLabel('New password').fill('a few words in a row');
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.goto(`${url('portal')}/o/mine/keys/new`);
    await page.getByLabel('Name').fill('Website');
    await page.getByLabel('Choose scopes').check();
    for (const scope of ['read', 'accounts:write', 'students:write']) await page.locator(`input[name=scopes][value="${scope}"]`).check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.waitForURL('**/created');
    key = await page.getByLabel('API key', { exact: true }).inputValue();
    const me = await fetch(`${url('api')}/v1/me`, { headers: { Authorization: `Token token=${key}` } });
    expect([me.status, (await cli('doctor')).code]).toEqual([200, 0]);
  });

  it('each reply of real mail servers parks, is tried again, or suppresses, as the table says', async () => {
    const replies = new Map<string, Behaviour>();
    for (const { stage, address, reply } of corpus) replies.set(`${stage} ${address}`, reply);
    for (const stage of STAGES) smtp[stage] = (address) => replies.get(`${stage} ${address}`);
    const rows = corpus.map(({ address }) => address);
    const users = rows.map((email) => ({ type: 'student', first_name: 'Mia', last_name: 'Nguyen', email }));
    const { results: invited } = await ask<{ results: { id: string; email: string; invited: boolean }[] }>('users/bulk-invite', { users });
    expect(invited.map(({ email, invited }) => [email, invited])).toEqual(rows.map((email) => [email, true]));
    for (const { id, email } of invited) ids.set(email, id);
    await become('dead', gone);
    await become('failed', valid);
    const first = await mails(rows);
    expect(new Set(gone.map((address) => first[address]!.problem))).toEqual(new Set(['mailbox_unknown']));
    expect(valid.filter((address) => first[address]!.problem === 'mailbox_unknown')).toEqual([]);
    const noted = async (where: string) => {
      const { rows: found } = await admin.query<{ address: string }>(
        `SELECT email_normalized AS address FROM suppressions WHERE ${where} ORDER BY 1`,
      );
      return found.map(({ address }) => address);
    };
    expect([await noted('true'), await noted('suppressed_until IS NOT NULL')]).toEqual([[...gone].sort(), []]);

    // The servers have calmed down, so the next try arrives.
    for (const address of valid) for (const stage of STAGES) replies.delete(`${stage} ${address}`);
    await admin.query(`UPDATE outbox SET due_at = now() WHERE status = 'failed'`);
    await admin.query(`SELECT pg_notify('outbox', 'email')`);
    await become('sent', valid);

    await aDay();
    expect(await again(gone)).toEqual(gone);
    await become('suppressed', gone);
    expect(await noted('suppressed_until > now()')).toEqual([...gone].sort());

    await aDay();
    smtp.asked.length = 0;
    expect(await again([...gone, ...valid.slice(0, 5)])).toEqual(valid.slice(0, 5));
    await vi.waitFor(() => expect([...smtp.asked].sort()).toEqual(valid.slice(0, 5).sort()), { timeout: 60_000 });
    expect((await cli('doctor')).code).toBe(0);
  });

  it('all three have metrics, which nginx does not show', async () => {
    for (const { name, port } of processes) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      for (const metric of ['process_cpu_seconds_total', 'database_pool_total']) expect([name, text.includes(metric)]).toEqual([name, true]);
      expect([name, text.includes('worker_failed_claims_total 0')]).toEqual([name, name === 'worker']);
      if (name === 'api') expect(text).toMatch(/^outbox_workers 1$/m);
    }
    for (const site of ['api', 'portal'] as const) expect((await fetch(`${url(site)}/metrics`)).status).toBe(404);
    expect(nginx.complaints).toEqual([]);
  });
});
