import { randomBytes } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import pg from 'pg';
import { waitsFor } from '../../support/database/lock-waits.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

/** A restart of the portal loses no session and drops no request. */
let owner: Someone;
let process: ApiProcess;
let agent: Agent;
const ENCRYPTION_KEY = randomBytes(32).toString('hex');

await buildOnce();
const portal = await fixture(TestPortal.start());

beforeAll(async () => {
  owner = await portal.someone('owner');
});
afterEach(async () => {
  agent.destroy();
  await process.stop();
});

async function start(settings: Record<string, string> = {}): Promise<void> {
  const all = { PORTAL_DATABASE_URL: portal.database.portalUrl, ENCRYPTION_KEY, ...settings };
  process = await ApiProcess.start(all, [], 'portal');
  agent = new Agent({ keepAlive: true });
}

interface Answer {
  status: number;
  connection: string | undefined;
}

function ask(path: string, form?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      Cookie: owner.cookie,
      'Sec-Fetch-Site': 'same-origin',
      ...(form !== undefined && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    };
    const method = form === undefined ? 'GET' : 'POST';
    const sent = send({ host: '127.0.0.1', port: process.port, path, method, headers, agent }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode!, connection: response.headers.connection }));
    });
    sent.on('error', reject);
    sent.end(form);
  });
}

const organization = () => `/o/${owner.organization.slug}`;

it('SIGTERM fails readiness and ends each connection with its answer, while pages are still served', async () => {
  await start({ SHUTDOWN_DELAY_SECONDS: '300' });
  expect(await ask('/health/ready')).toEqual({ status: 200, connection: 'keep-alive' });
  process.signal('SIGTERM');
  await vi.waitFor(async () => expect((await ask('/health/ready')).status).toBe(503));
  expect(await ask('/health/live')).toEqual({ status: 200, connection: 'close' });
  expect(await ask('/account')).toEqual({ status: 200, connection: 'close' });
  expect(await ask('/sign-in', 'email=&password=')).toEqual({ status: 422, connection: 'close' });
  expect(process.ended).toBeNull();
});

it('requests in flight finish, new connections are refused, and the next process knows the session', async () => {
  await start();
  const lock = new pg.Client({ connectionString: portal.database.adminUrl });
  await lock.connect();
  await lock.query('BEGIN; LOCK TABLE rebuild_hooks IN ACCESS EXCLUSIVE MODE');
  const url = encodeURIComponent('https://build.example.org/x');
  const inFlight = [ask(`${organization()}/build-hook`), ask(`${organization()}/build-hook/add`, `url=${url}`)];
  await vi.waitFor(async () => expect((await lock.query(waitsFor('rebuild_hooks'))).rows).toHaveLength(2));
  process.signal('SIGTERM');
  await vi.waitFor(async () => {
    await expect(ask('/health/live')).rejects.toThrow(/ECONNREFUSED/);
  });
  expect(process.ended).toBeNull();
  await lock.end();
  expect(await Promise.all(inFlight)).toEqual(Array(2).fill({ status: 200, connection: 'close' }));
  expect(await process.exit).toBe(0);
  expect(process.stderr).toBe('');
  await start();
  expect((await ask(organization())).status).toBe(200);
}); // prettier-ignore
