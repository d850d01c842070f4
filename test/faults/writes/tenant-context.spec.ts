import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { type Scope, SCOPES } from '@app/access';
import { Database } from '@app/database';
import { TestApi } from '../../support/http/api.js';
import { Factories } from '../../support/data/factories.js';
import { reached } from '../../support/faults/promise.js';
import { Random } from '../../support/data/random.js';
import { idsFor, isUpload } from '../../support/http/record-for.js';
import { keyedRoutes, type Route, validPath } from '../../support/http/routes.js';
import { bodiesOf } from '../../support/http/valid-bodies.js';
import { createOrganizationFixture, type OrganizationFixture } from '../../support/data/fixtures.js';

/** Promise 17: the tenant's context never leaks through the pool. Takes about three minutes. */
const REQUESTS = Number(process.env.REQUESTS ?? 20_000);
const TENANTS = Number(process.env.TENANTS ?? 50);
const POOL = 5;
const AT_ONCE = 20;
const ABORTED = 0.08;
const WRITES = 0.1;
/** Tables are locked for longer than this, once per `LOCK_EVERY` requests. */
const DEADLINE_SECONDS = 1;
const LOCK_EVERY = 1_000;
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

interface Tenant extends OrganizationFixture {
  allKey: string;
}

interface Report {
  requests: number;
  aborted: number;
  timedOut: number;
  statuses: Record<number, number>;
  /** Answers with another tenant's row. */
  foreign: string[];
  /** Checks of pool connections before use, and the tenants still set on them. */
  looks: number;
  left: string[];
}

let api: TestApi;
let make: Factories;
let tenants: Tenant[];
let routes: Route[];
let pool: pg.Pool;
/** The organization of each row, by row id. */
const owners = new Map<string, string>();

beforeAll(async () => {
  api = await TestApi.start({ DATABASE_POOL_SIZE: String(POOL), REQUEST_DEADLINE_SECONDS: String(DEADLINE_SECONDS) });
  make = await Factories.connect(api.database);
  tenants = [];
  for (let count = 0; count < TENANTS; count++) {
    const school = await createOrganizationFixture(api, make);
    tenants.push({ ...school, allKey: await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] }) });
    for (const id of [school.id, ...school.ids]) owners.set(id, school.id);
  }
  // Leaves out writes that would delete rows or link people whom other requests need, and uploads.
  routes = keyedRoutes(api).filter((route) => route.method === 'GET' || (route.method !== 'DELETE' && !isUpload(route)));
  pool = (api.app.get(DataSource).driver as unknown as { master: pg.Pool }).master;
}, 240_000);
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await make.close();
  await api.stop();
});

/** Sends interleaved requests of all tenants, aborts some, and checks every answer and every connection. */
async function interleave(requests: number): Promise<Report> {
  const random = new Random(SEED);
  const report: Report = { requests, aborted: 0, timedOut: 0, statuses: {}, foreign: [], looks: 0, left: [] };
  const stopLooking = lookAtConnections(report);
  const [reads, writes] = [true, false].map((read) => routes.filter(({ method }) => (method === 'GET') === read));
  let sent = 0;
  let locking = Promise.resolve();
  const client = async () => {
    while (sent < requests) {
      if (sent++ % LOCK_EVERY === 0) locking = locking.then(lockForAMoment);
      const tenant = random.pick(tenants);
      const route = random.pick(random.chance(WRITES) ? writes! : reads!);
      const abortAfterMs = random.chance(ABORTED) ? random.integer(15) : null;
      const answer = await send(route, tenant, `${sent}`, abortAfterMs);
      if (!answer) {
        report.aborted++;
        continue;
      }
      report.statuses[answer.status] = (report.statuses[answer.status] ?? 0) + 1;
      if (answer.status === 503) report.timedOut++;
      const strange = (answer.text.match(UUID) ?? []).find((id) => (owners.get(id) ?? tenant.id) !== tenant.id);
      if (strange) report.foreign.push(`${route.method} ${route.path}: ${strange}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  await locking;
  stopLooking();
  for (const setting of await settings()) if (setting) report.left.push(setting);
  return report;
}

/** Checks each connection when it is acquired: did the previous request leave a tenant set? */
function lookAtConnections(report: Report): () => void {
  const look = (connection: pg.PoolClient) => {
    connection
      .query<{ left: string | null }>(`SELECT current_setting('app.organization_id', true) AS left`)
      .then(({ rows }) => {
        report.looks++;
        if (rows[0]!.left) report.left.push(rows[0]!.left);
      })
      // The connection is being replaced.
      .catch(() => undefined);
  };
  pool.on('acquire', look);
  return () => void pool.off('acquire', look);
}

const everyConnection = () => Promise.all(Array.from({ length: POOL }, () => pool.connect()));

async function settings(): Promise<(string | null)[]> {
  const clients = await everyConnection();
  const statement = `SELECT current_setting('app.organization_id', true) AS left`;
  return Promise.all(
    clients.map(async (client) => {
      const { rows } = await client.query<{ left: string | null }>(statement);
      client.release();
      return rows[0]!.left;
    }),
  );
}

/** Locks tables, so that reads and writes time out. */
async function lockForAMoment(): Promise<void> {
  await make.query(`DO $$ BEGIN
    LOCK TABLE homework, members, blog_posts IN ACCESS EXCLUSIVE MODE;
    PERFORM pg_sleep(${1.5 * DEADLINE_SECONDS});
  END $$`);
}

/** @returns null if the client aborted before the answer was complete */
function send(route: Route, tenant: Tenant, name: string, abortAfterMs: number | null): Promise<{ status: number; text: string } | null> {
  const [body] = bodiesOf(route, idsFor(route, tenant));
  const text = body && JSON.stringify(body).replaceAll('@canary', `${name}@canary`).replaceAll('"slug":"canary"', `"slug":"canary-${name}"`);
  return new Promise((resolve) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port: (api.server.address() as AddressInfo).port,
        method: route.method,
        path: validPath(route, tenant),
        headers: { Authorization: `Token token=${tenant.allKey}`, ...(text && { 'Content-Type': 'application/json' }) },
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (part: string) => (answer += part));
        response.on('error', () => resolve(null));
        response.on('end', () => resolve({ status: response.statusCode!, text: answer }));
      },
    );
    asked.on('error', () => resolve(null));
    asked.end(text);
    if (abortAfterMs !== null) setTimeout(() => asked.destroy(), abortAfterMs);
  });
}

it(`${REQUESTS} requests of ${TENANTS} tenants over ${POOL} connections show nobody another tenant’s rows and leave no tenant set`, async () => {
  const { aborted, timedOut, foreign, looks, left, statuses } = await interleave(REQUESTS);
  reached(
    17,
    `${foreign.length} rows of another tenant, ${left.length} of ${looks} looks found a tenant set, in ${REQUESTS} requests ` +
      `of ${TENANTS} tenants, ${aborted} aborted, ${timedOut} timed out`,
    SEED,
  );
  console.log('answers by status:', statuses);
  expect({ foreign, left }).toEqual({ foreign: [], left: [] });
  expect(aborted + timedOut).toBeGreaterThanOrEqual(REQUESTS * 0.05);
  expect(timedOut).toBeGreaterThan(0);
  expect(looks).toBeGreaterThan(REQUESTS * 0.8);
  // Most requests were served.
  expect(statuses[200]!).toBeGreaterThan(REQUESTS * 0.6);
  expect(Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')).toEqual([]);
});

it('catches a tenant that stays set on its connection, and an answer with another tenant’s rows', async () => {
  const db = api.app.get(Database);
  const read = db.read.bind(db) as (...given: unknown[]) => Promise<unknown[]>;
  const reading = vi.spyOn(db, 'read');
  reading.mockImplementation(async (tenant, ...statements) => {
    const client = await pool.connect();
    await client.query(`SELECT set_config('app.organization_id', $1, false)`, [tenant.organizationId]);
    client.release();
    return (await read(tenant, ...statements)) as never;
  });
  expect((await interleave(200)).left.length).toBeGreaterThan(0);
  for (const client of await everyConnection()) {
    await client.query('RESET app.organization_id');
    client.release();
  }

  let before: unknown[] | null = null;
  reading.mockImplementation(async (...given) => {
    const mine = await read(...given);
    const swapped = before?.length === mine.length ? before : mine;
    before = mine;
    return swapped as never;
  });
  expect((await interleave(500)).foreign.length).toBeGreaterThan(0);
});
