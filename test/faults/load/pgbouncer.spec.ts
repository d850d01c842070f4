import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Scope, SCOPES } from '@app/access';
import { createFixtures } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { allWrites } from '../../support/http/all-writes.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { documentOf, filtersOf, keyedReads, sampleOf, validPath } from '../../support/http/routes.js';
import { TestPgBouncer } from '../../support/load/pgbouncer.js';
import { cookieOf, PASSWORD, TestPortal } from '../../support/portal/portal.js';
import { urlsOf } from '../../support/database/database.js';
import { runCli } from '../../support/process/cli.js';
import { fixture, inTest } from '../../support/process/fixture.js';
import { findPgBouncers } from '../../support/process/pgbouncer-binary.js';
import { Mailroom } from '../../support/worker/mailroom.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

/** Connections of PostgreSQL for each role, so that 16 clients of two processes share them. */
const FEW = { 'default_pool_size = 20': 'default_pool_size = 4' };
const CLIENTS = 16;

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-pooled-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const settings = {
  ENCRYPTION_KEY: '5e'.repeat(32),
  DATA_DIR: dataDir,
  SMTP_URL: 'smtp://127.0.0.1:1',
  APP_URL: 'http://portal.example',
  REQUEST_LOG: 'false',
};

await buildOnce();
const { current, old } = findPgBouncers();
const direct = await fixture(TestApi.start(settings));
const { database } = direct;
const fixtures = await createFixtures(direct);
const bouncer = await fixture(TestPgBouncer.start(current, database.adminUrl, FEW));
const pooled = { ...settings, DATABASE_URL: bouncer.at(database.applicationUrl), REQUEST_DEADLINE_SECONDS: '120' };
const processes = await Promise.all([0, 1].map(() => fixture(ApiProcess.start(pooled))));
const key = await direct.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
const { port } = direct.server.address() as { port: number };

/** Runs the work on all of these by so many clients at once. */
async function byMany<T>(all: T[], work: (one: T, index: number) => Promise<void>, clients = CLIENTS): Promise<void> {
  const rest = all.map((one, index) => ({ one, index }));
  const client = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) await work(next.one, next.index);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function get(at: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${at}${path}`, { headers: { Authorization: `Token token=${key}` } });
  return `${response.status} ${response.headers.get('etag')} ${await response.text()}`;
}

describe('pgbouncer in transaction mode', () => {
  it('gives every connection the settings of its role', async () => {
    for (const url of Object.values(database.processUrls)) {
      const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: bouncer.at(url) }));
      for (const client of clients) await client.connect();
      // Each keeps a connection of PostgreSQL until its transaction ends.
      for (const client of clients) await client.query('BEGIN');
      const found = await Promise.all(
        clients.map(async (client) => {
          const { rows } = await client.query<{ found: string }>(
            `SELECT concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('transaction_timeout'),
               current_setting('idle_in_transaction_session_timeout'), current_setting('jit'), pg_backend_pid()) AS found`,
          );
          return rows[0]!.found;
        }),
      );
      for (const client of clients) await client.query('COMMIT').then(() => client.end());
      expect(new Set(found).size).toBe(4);
      for (const one of found) expect(one).toMatch(/^5s 4s 15s 10s off \d+$/);
    }
  });

  it('changes no byte of a read, nor does it fail one', async () => {
    const document = await documentOf(direct);
    const paths = keyedReads(direct).flatMap((route) =>
      ['', ...[...filtersOf(document, route)].map(([name, schema]) => `?${name}=${sampleOf(name, schema, fixtures.a)}`)].map((query) =>
        validPath(route, fixtures.a, query),
      ),
    );
    const expected = new Map<string, string>();
    await byMany(paths, async (path) => void expected.set(path, await get(port, path)));
    const again = new Map<string, string>();
    await byMany(paths, async (path) => void again.set(path, await get(port, path)));
    // What tells the time is compared by its status.
    const moving = paths.filter((path) => expected.get(path) !== again.get(path));
    const different: string[] = [];
    const calls = [1, 2, 3].flatMap(() => paths);
    await byMany(calls, async (path, index) => {
      const [answer, wanted] = [await get(processes[index % 2]!.port, path), expected.get(path)!];
      if (moving.includes(path) ? answer.slice(0, 3) !== wanted.slice(0, 3) : answer !== wanted) different.push(`${path}: ${answer.slice(0, 200)}`);
    });
    console.log(
      `${calls.length} GETs of ${paths.length} paths, ${different.length} different; ${moving.length} that change by themselves: ${moving.join(' ')}`,
    );
    expect(different).toEqual([]);
    expect(moving.length).toBeLessThan(paths.length / 50);
  });

  it('serves every write, and its replay from the other process', async () => {
    const writes = (await allWrites(direct, fixtures)).filter(({ replay }) => !replay);
    // Keeps the connections changing hands.
    let running = true;
    const reads = byMany([0, 1, 2, 3], async (index) => {
      while (running) await get(processes[index % 2]!.port, '/v1/students?limit=5');
    });
    const faults: string[] = [];
    for (const [index, { name, method, path, type, body }] of writes.entries()) {
      const headers = { Authorization: `Token token=${key}`, 'Content-Type': type, 'Idempotency-Key': `write-${index}` };
      const send = async (at: ApiProcess) => {
        const response = await fetch(`http://127.0.0.1:${at.port}${path}`, { method, headers, body: body ?? null });
        return { status: response.status, replayed: response.headers.get('idempotency-replayed'), text: await response.text() };
      };
      const [first, second] = [await send(processes[index % 2]!), await send(processes[(index + 1) % 2]!)];
      if (first.status >= 300) faults.push(`${name}: ${first.status} ${first.text.slice(0, 200)}`);
      if (second.text !== first.text || second.status !== first.status || second.replayed !== 'true')
        faults.push(`${name} again: ${JSON.stringify(second).slice(0, 200)}`);
    }
    running = false;
    await reads;
    console.log(`${writes.length} writes with their replays, ${faults.length} faults`);
    expect(faults).toEqual([]);
  });

  it('serves the portal: people sign in and see every page', async () => {
    const portal = await inTest(
      TestPortal.start({ ...settings, PORTAL_DATABASE_URL: bouncer.at(database.portalUrl), DATABASE_POOL_SIZE: '5' }, database),
    );
    const [organization] = await portal.make.query<{ slug: string }>('SELECT * FROM organizations WHERE id = $1', [fixtures.a.id]);
    const { user } = await portal.someone('owner', { organization: organization as never });
    await portal.setPassword(user.id);
    const signedIn = await portal.post('/sign-in', { email: user.email, password: PASSWORD }).expect(303);
    const cookie = cookieOf(signedIn)!;
    const pages = new Set([`/o/${organization!.slug}`]);
    const faults: string[] = [];
    let seen = 0;
    for (const page of pages) {
      if (++seen > 200) break;
      const { status, text, headers } = await portal.get(page, cookie);
      if (status >= 400) faults.push(`${page}: ${status}`);
      if (!String(headers['content-type']).includes('html')) continue;
      for (const [, link] of text.matchAll(/href="(\/[^"#]+)/g)) pages.add(link!.replaceAll('&amp;', '&'));
    }
    console.log(`${seen} pages of the portal, ${faults.length} faults`);
    expect(faults).toEqual([]);
    expect(seen).toBeGreaterThan(60);
  });

  it('serves the worker, which hears of a mail at once with WORKER_LISTEN_URL, and without it warns and polls', async () => {
    const room = await inTest(Mailroom.open());
    const url = room.outbox.database.workerUrl;
    const pooler = await inTest(TestPgBouncer.start(current, database.adminUrl, FEW));
    const hire = (more: Record<string, string>) =>
      inTest(WorkerProcess.start({ ...room.outbox.settings, WORKER_DATABASE_URL: pooler.at(url), ...more }));
    const listening = await hire({ WORKER_LISTEN_URL: url });
    const mails = await room.queue('first', 40);
    await room.becomes({ sent: 40 }, 60_000);
    const began = performance.now();
    await room.queue('heard', 1);
    await room.becomes({ sent: 41 }, 60_000);
    const heard = performance.now() - began;
    expect(listening.output).not.toMatch(/No notification arrives|outbox_not/);
    await listening.stop();
    const deaf = await hire({});
    await vi.waitFor(() => expect(deaf.output).toContain('No notification arrives at WORKER_DATABASE_URL'), 20_000);
    const more = await room.queue('polled', 40);
    await room.becomes({ sent: 81 }, 60_000);
    console.log(`81 mails through pgbouncer; one is sent ${heard.toFixed(0)} ms after its commit`);
    expect(room.arrived([...mails, 'heard0@example.org', ...more])).toEqual({ lost: 0, doubled: 0, wrong: [] });
    expect(deaf.output).not.toContain('outbox_not');
  });

  it('refuses commands of the owner, and doctor tells why', async () => {
    const urls = Object.fromEntries(Object.entries(urlsOf(database)).map(([name, url]) => [name, bouncer.at(url)]));
    const refused = await runCli(['migrate'], urls);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^MIGRATION_DATABASE_URL: the database at \S+ is behind a connection pooler: [^\n]+\n$/),
    ]);
    const found = await runCli(['doctor'], { ...urls, ENCRYPTION_KEY: settings.ENCRYPTION_KEY });
    expect(found.stdout).toMatch(/^fail {2}role of the owner: .*is behind a connection pooler/m);
    const { code, stdout } = await runCli(['doctor'], {
      ...urls,
      MIGRATION_DATABASE_URL: database.ownerUrl,
      ENCRYPTION_KEY: settings.ENCRYPTION_KEY,
    });
    expect([code, stdout.match(/^fail.*$/gm)]).toEqual([0, null]);
  });
});

describe('a pgbouncer that mixes up prepared statements', () => {
  const unable = { ...FEW, 'max_prepared_statements = 1000': 'max_prepared_statements = 0' };
  const poolers = [
    ['told to', current, unable],
    ["of the distribution, if that is older than 1.21's", old, { ...FEW, 'max_prepared_statements = 1000': '' }],
  ] as const;

  it.each(poolers)('%s, is refused at start, idle and under load', async (_, binary, changes) => {
    if (!binary) return;
    const pooler = await inTest(TestPgBouncer.start(binary, database.adminUrl, changes));
    const DATABASE_URL = pooler.at(database.applicationUrl);
    const refusal = /DATABASE_URL: the database at \S+ is behind a connection pooler that does not keep the prepared statements of its clients apart/;
    await expect(ApiProcess.start({ ...settings, DATABASE_URL })).rejects.toThrow(refusal);
    let running = true;
    const busy = byMany([1, 2, 3, 4, 5, 6, 7, 8], async () => {
      const client = new pg.Client({ connectionString: DATABASE_URL });
      await client.connect();
      while (running) await client.query('SELECT pg_sleep(0.01)');
      await client.end();
    });
    for (let time = 0; time < 3; time++) await expect(ApiProcess.start({ ...settings, DATABASE_URL })).rejects.toThrow(refusal);
    running = false;
    await busy;
  });

  it.each(poolers)('%s, is used if it keeps sessions apart', async (_, binary, changes) => {
    if (!binary) return;
    const pooler = await inTest(TestPgBouncer.start(binary, database.adminUrl, { ...changes, 'pool_mode = transaction': 'pool_mode = session' }));
    const sessions = { ...settings, DATABASE_URL: pooler.at(database.applicationUrl), DATABASE_POOL_SIZE: '1' };
    const api = await inTest(ApiProcess.start(sessions));
    expect(await get(api.port, '/v1/students')).toBe(await get(port, '/v1/students'));
  });
});
