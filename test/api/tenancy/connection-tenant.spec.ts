import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import sql from 'sql-template-tag';
import { DataSource } from 'typeorm';
import { type Scope, SCOPES } from '@app/access';
import { Database } from '@app/database';
import { createOrganizationFixture, type OrganizationFixture } from '../../support/data/fixtures.js';
import { Random } from '../../support/data/random.js';
import { onEveryConnection, organizationsLeft, POOL } from '../../support/database/api-pool.js';
import { forgetKeyUsage } from '../../support/database/read-statements.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { idsFor, isUpload } from '../../support/http/record-for.js';
import { keyedRoutes, type Route, validPath } from '../../support/http/routes.js';
import { bodiesOf } from '../../support/http/valid-bodies.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 17: the tenant's context never leaks through the pool. A sample only reads, and locks no tables. */
const REQUESTS = Number(process.env.REQUESTS ?? inReport(20_000, 1_500));
const TENANTS = Number(process.env.TENANTS ?? inReport(50, 3));
const AT_ONCE = 20;
const ABORTED = inReport(0.08, 0.1);
const WRITES = inReport(0.1, 0);
/** Tables are locked for longer than the deadline, once per so many requests. */
const DEADLINE_SECONDS = inReport(1, 120);
const LOCK_EVERY = inReport(1_000, Infinity);
const SEED = seedOf(17);
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

interface Tenant extends OrganizationFixture {
  allKey: string;
}

forgetKeyUsage();
const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: String(POOL), REQUEST_DEADLINE_SECONDS: String(DEADLINE_SECONDS) }));
const { make } = api;
const db = api.app.get(Database);
const pool = (api.app.get(DataSource).driver as unknown as { master: pg.Pool }).master;
/** The organization of each row, by row id. */
const owners = new Map<string, string>();
const tenants: Tenant[] = [];
for (let count = 0; count < TENANTS; count++) {
  const school = await createOrganizationFixture(api, make);
  tenants.push({ ...school, allKey: await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] }) });
  for (const id of [school.id, ...school.ids]) owners.set(id, school.id);
}
// Leaves out writes that would delete rows or link people whom other requests need, and uploads.
const routes = keyedRoutes(api).filter((route) => route.method === 'GET' || (route.method !== 'DELETE' && !isUpload(route)));

afterEach(() => vi.restoreAllMocks());

/** Sends interleaved requests of all tenants, aborts some, and checks every answer and every connection. */
async function interleave(requests: number) {
  const random = new Random(SEED);
  const report = { aborted: 0, statuses: {} as Record<number, number>, foreign: [] as string[], looks: 0, left: [] as string[] };
  /** Checks each connection when it is acquired: did the previous request leave a tenant set? */
  const look = (connection: pg.PoolClient) =>
    void connection.query<{ left: string | null }>(`SELECT current_setting('app.organization_id', true) AS left`).then(
      ({ rows }) => {
        report.looks++;
        if (rows[0]!.left) report.left.push(rows[0]!.left);
      },
      // The connection is being replaced.
      () => undefined,
    );
  pool.on('acquire', look);
  const [reads, writes] = [true, false].map((read) => routes.filter(({ method }) => (method === 'GET') === read));
  let sent = 0;
  let locking = Promise.resolve();
  const client = async () => {
    while (sent < requests) {
      if (++sent % LOCK_EVERY === 0) locking = locking.then(lockForAMoment);
      const tenant = random.pick(tenants);
      const route = random.pick(random.chance(WRITES) ? writes! : reads!);
      const answer = await send(route, tenant, `${sent}`, random.chance(ABORTED) ? random.integer(15) : null);
      if (!answer) {
        report.aborted++;
        continue;
      }
      report.statuses[answer.status] = (report.statuses[answer.status] ?? 0) + 1;
      const strange = (answer.text.match(UUID) ?? []).find((id) => (owners.get(id) ?? tenant.id) !== tenant.id);
      if (strange) report.foreign.push(`${route.method} ${route.path}: ${strange}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  await locking;
  pool.off('acquire', look);
  report.left.push(...(await organizationsLeft(api)));
  return report;
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
  const { method } = route;
  const [body] = bodiesOf(route, idsFor(route, tenant));
  const text = body && JSON.stringify(body).replaceAll('@canary', `${name}@canary`).replaceAll('"slug":"canary"', `"slug":"canary-${name}"`);
  const headers = { Authorization: `Token token=${tenant.allKey}`, ...(text && { 'Content-Type': 'application/json' }) };
  const { port } = api.server.address() as AddressInfo;
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, method, path: validPath(route, tenant), headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (part: string) => (answer += part));
      response.on('error', () => resolve(null));
      response.on('end', () => resolve({ status: response.statusCode!, text: answer }));
    });
    asked.on('error', () => resolve(null));
    asked.end(text);
    if (abortAfterMs !== null) setTimeout(() => asked.destroy(), abortAfterMs);
  });
}

describe('the organization that a connection worked for', () => {
  it('is reset after a failure and after a statement timeout', async () => {
    const failures = [
      [sql`SELECT 1 / 0`],
      [sql`SELECT 'x'::uuid`],
      [sql`SELECT FROM nowhere`],
      [sql`SELECT set_config('statement_timeout', '50ms', true)`, sql`SELECT pg_sleep(60)`],
    ];
    const codes = await Promise.all(
      failures.map((statements) =>
        db.read({ organizationId: tenants[0]!.id }, ...statements).catch((error: unknown) => (error as { code: string }).code),
      ),
    );
    expect(codes).toEqual(['22012', '22P02', '42P01', '57014']);
    expect(await organizationsLeft(api)).toEqual([]);
  });

  it(`is never used by another request, in ${REQUESTS} of ${TENANTS} tenants over ${POOL} connections, of which some are aborted`, async () => {
    const { aborted, foreign, looks, left, statuses } = await interleave(REQUESTS);
    const timedOut = statuses[503] ?? 0;
    reached(17, `${foreign.length} rows of another tenant, ${left.length} of ${looks} looks found a tenant set, ${aborted} aborted, ${timedOut} timed out, ${JSON.stringify(statuses)}`, SEED); // prettier-ignore
    expect({ foreign, left }).toEqual({ foreign: [], left: [] });
    expect(aborted + timedOut).toBeGreaterThanOrEqual(REQUESTS * inReport(0.05, 0.02));
    expect(timedOut > 0).toBe(LOCK_EVERY < Infinity);
    expect(looks).toBeGreaterThan(REQUESTS * 0.8);
    // Most requests were served.
    expect(statuses[200]!).toBeGreaterThan(REQUESTS * 0.6);
    expect(Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')).toEqual([]);
    await vi.waitFor(() => {
      const { total, idle, waiting } = db.poolState;
      expect([idle, waiting]).toEqual([total, 0]);
    });
  });

  it('is noticed if it stays set, and so is an answer with another tenant’s rows', async () => {
    const read = db.read.bind(db) as (...given: unknown[]) => Promise<unknown[]>;
    const reading = vi.spyOn(db, 'read');
    reading.mockImplementation(async (tenant, ...statements) => {
      const client = await pool.connect();
      await client.query(`SELECT set_config('app.organization_id', $1, false)`, [tenant.organizationId]);
      client.release();
      return (await read(tenant, ...statements)) as never;
    });
    expect((await interleave(200)).left.length).toBeGreaterThan(0);
    await onEveryConnection(api, 'RESET app.organization_id');
    let before: unknown[] | null = null;
    reading.mockImplementation(async (...given) => {
      const mine = await read(...given);
      const swapped = before?.length === mine.length ? before : mine;
      before = mine;
      return swapped as never;
    });
    expect((await interleave(500)).foreign.length).toBeGreaterThan(0);
  });
});
