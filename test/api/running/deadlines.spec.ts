import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import sql from 'sql-template-tag';
import { type Scope, SCOPES } from '@app/access';
import { Database } from '@app/database';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { createTestDatabase } from '../../support/database/database.js';
import { DatabaseProxy } from '../../support/database/database-proxy.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { isUpload, operationOf, validWrites, writesOf } from '../../support/http/record-for.js';
import { keyedReads, nameOf, type Route, validPath } from '../../support/http/routes.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** Every request is answered by its deadline, whatever is locked or hangs, and leaves its connections usable. */
const POOL = 10;
const database = await fixture(createTestDatabase());
const proxy = await fixture(DatabaseProxy.open(database.applicationUrl));
const settings = { DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: String(POOL), REQUEST_DEADLINE_SECONDS: '2' };
const api = await fixture(TestApi.start(settings, database));
const fixtures = await createFixtures(api);
const all = await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
const requests = await validWrites(routesOfWrites(), fixtures.make, fixtures.a);
const writes = new Map(requests.map((request) => [request.operation, request]));
const admin = new pg.Client({ connectionString: database.adminUrl });
await admin.connect();
afterAll(() => admin.end());
const check = new AnswerCheck();

type Reply = { status: number; faults: string[]; code: string | undefined };

async function ask(server: TestApi, method: string, path: string, key: string, body?: object): Promise<Reply> {
  const { port } = server.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Token token=${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  const { status } = response;
  const answer = { status, headers: Object.fromEntries(response.headers), body: text };
  const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string } };
  return { status, faults: check.faults(answer), code: error?.code };
}

function routesOfWrites(): Route[] {
  return writesOf(api).filter((route) => !isUpload(route));
}

const send = (route: Route) => {
  const write = writes.get(operationOf(route));
  return ask(api, route.method, write?.path ?? validPath(route, fixtures.a), all, write?.body);
};

/** Holds the lock until the work is done, however long it takes, so that no answer can come from its release. */
async function whileLocked<T>(tables: string[], work: () => Promise<T>): Promise<T> {
  await admin.query(`BEGIN; LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  try {
    return await work();
  } finally {
    await admin.query('ROLLBACK');
  }
}

/** Checks that every pool connection is usable at once, and that none is stuck. */
async function poolIsWhole(): Promise<void> {
  const db = api.app.get(Database);
  await vi.waitFor(async () => {
    const { rows } = await admin.query<{ state: string }>(
      `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tutoring api'`,
    );
    expect(rows.length).toBe(db.poolState.total);
    expect(rows.every(({ state }) => state === 'idle')).toBe(true);
    expect(db.poolState).toMatchObject({ idle: db.poolState.total, waiting: 0 });
  });
  // New connections may take a busy machine longer than the deadline.
  const reads = [fixtures.a, fixtures.b, fixtures.c].flatMap(({ id }) => Array<string>(POOL).fill(id));
  await vi.waitFor(() => Promise.all(reads.map((organizationId) => db.read({ organizationId }, sql`SELECT pg_sleep(0.05)`)))); // prettier-ignore
}

function complaints(replies: Map<string, Reply>, allowed: number[]): string[] {
  return [...replies].flatMap(([name, { status, faults }]) =>
    allowed.includes(status) && faults.length === 0 ? [] : [`${name}: ${status} ${faults.join(', ')}`],
  );
}

/** All routes at once. */
async function each(routes: Route[], one: (route: Route) => Promise<Reply>): Promise<Map<string, Reply>> {
  return new Map(await Promise.all(routes.map(async (route) => [nameOf(route), await one(route)] as const)));
}

async function tablesBut(...spared: string[]): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> ALL ($1)`,
    [spared],
  );
  return rows.map(({ name }) => name);
}

describe('with tables locked', () => {
  it('reads return 503 in time, unless they need none of the tables', async () => {
    const tables = await tablesBut('organizations', 'moves', 'retention_settings', 'api_keys', 'migrations', 'worker_heartbeats');
    const read = (route: Route) => ask(api, 'GET', validPath(route, fixtures.a), all);
    await whileLocked(tables, async () => {
      const replies = await each(keyedReads(api), read);
      const [free, others] = [new Map<string, Reply>(), new Map<string, Reply>()];
      for (const [name, reply] of replies) (['GET /v1/me', 'GET /v1/org', 'GET /v1/ping'].includes(name) ? free : others).set(name, reply);
      expect(complaints(others, [503])).toEqual([]);
      expect(complaints(free, [200, 503])).toEqual([]);
      // In the crowd, a busy machine may not get to these in time, either.
      for (const route of keyedReads(api).filter((each) => free.has(nameOf(each)))) {
        await vi.waitFor(async () => expect([nameOf(route), (await read(route)).status]).toEqual([nameOf(route), 200]));
      }
      await vi.waitFor(async () => expect((await api.get('/health/ready')).status).toBe(200));
      expect(free.size).toBe(3);
    });
    await poolIsWhole();
  });

  it('writes return in time when audit_log is locked, and refusals keep their own status', async () => {
    const routes = routesOfWrites();
    expect(routes.length).toBeGreaterThan(10);
    const [replies, refused] = await whileLocked(['audit_log'], () =>
      Promise.all([each(routes, send), each(routes, (route) => ask(api, route.method, `${pathOf(route, fixtures.a)}?x=1`, all))]),
    ); // prettier-ignore
    // Some find nothing to do and are refused earlier.
    expect(complaints(replies, [503, 404, 409, 422])).toEqual([]);
    expect([...replies.values()].filter(({ status }) => status === 503).length).toBeGreaterThan(routes.length / 2);
    // Two lots at once: what exceeds the organization's connections is a 503 as well.
    expect(complaints(refused, [422, 415, 503])).toEqual([]);
    await poolIsWhole();
  });

  it('one organization waiting for a lock does not block the others', async () => {
    const patient = await TestApi.start({ DATABASE_POOL_SIZE: String(POOL), REQUEST_DEADLINE_SECONDS: '6' }, database);
    const order: string[] = [];
    const note = async (name: string, reply: Promise<Reply>) => {
      const { status } = await reply;
      order.push(`${name} ${status}`);
    };
    await whileLocked(['homework'], async () => {
      const blocked = Array.from({ length: 3 * POOL }, () => note('blocked', ask(patient, 'GET', '/v1/homework', fixtures.a.key))); // prettier-ignore
      await vi.waitFor(async () => {
        const { rows } = await admin.query(waitsFor('homework'));
        // Alone, it leaves two for the next to arrive.
        expect(rows).toHaveLength(POOL - 2);
      });
      await note('other', ask(patient, 'GET', '/v1/tutors', fixtures.b.key));
      await Promise.all(blocked);
    });
    // Most were still waiting by then.
    expect(order.slice(0, 2 * POOL)).toContain('other 200');
    expect(order.filter((entry) => entry === 'blocked 503')).toHaveLength(3 * POOL);
    await patient.close();
  });
});

describe('with a database that hangs', () => {
  it('every request returns 503, over open connections and new ones', async () => {
    await poolIsWhole();
    const routes = [...keyedReads(api), ...routesOfWrites()];
    proxy.fate = 'stall';
    const open = await each(routes, send);
    const fresh = await each(routes, send);
    await vi.waitFor(async () => expect((await api.get('/health/ready')).status).toBe(503));
    proxy.fate = 'carry';
    expect(complaints(open, [503])).toEqual([]);
    expect(complaints(fresh, [503])).toEqual([]);
    await poolIsWhole();
  });

  it.each(['drop', 'reset'] as const)('or drops its connections (%s), every request returns 503', async (fate) => {
    proxy.fate = fate;
    const replies = await each([...keyedReads(api), ...routesOfWrites()], send);
    proxy.fate = 'carry';
    expect(complaints(replies, [503])).toEqual([]);
    await poolIsWhole();
  });

  it('in the middle of a write, the write is undone', async () => {
    const before = await admin.query('SELECT FROM members');
    const reply = await whileLocked(['audit_log'], async () => {
      const answer = ask(api, 'POST', '/v1/students', all, { first_name: 'Ada', last_name: 'L', email: 'ada@late.example' });
      await vi.waitFor(async () => {
        const { rows } = await admin.query(waitsFor('audit_log'));
        expect(rows).toHaveLength(1);
      });
      proxy.fate = 'stall';
      return answer;
    }); // prettier-ignore
    proxy.fate = 'carry';
    expect(reply).toEqual({ status: 503, faults: [], code: 'service_unavailable' });
    await poolIsWhole();
    const after = await admin.query('SELECT FROM members');
    expect(after.rows.length - before.rows.length).toBe(0);
  });
});

it('the deadline excludes the time a client takes to send its body', async () => {
  const { port } = api.server.address() as AddressInfo;
  const body = JSON.stringify({ first_name: 'Slow', last_name: 'Sender', email: 'slow@sender.example' });
  async function* slowly() {
    yield Buffer.from(body.slice(0, 10));
    // Longer than the deadline.
    await sleep(2_500);
    yield Buffer.from(body.slice(10));
  }
  const response = await fetch(`http://127.0.0.1:${port}/v1/students`, {
    method: 'POST',
    headers: { Authorization: `Token token=${all}`, 'Content-Type': 'application/json' },
    body: slowly(),
    duplex: 'half',
  });
  expect(response.status).toBe(201);
});
