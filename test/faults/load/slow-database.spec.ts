import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Scope, SCOPES } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { DatabaseProxy, type Fate } from '../../support/database/database-proxy.js';
import { type Lane, load, type Outcome, requestOf } from '../../support/load/load.js';
import { reached } from '../../support/faults/promise.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 32: a locked table, and a slow or broken network path to the database. Takes about two minutes. */
const LOCKED_MS = 1_000 * Number(process.env.SECONDS ?? 30);
const REQUESTS = 200;
const LIMIT_MS = 7_000;
const POOL = 10;

await buildOnce();
const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const proxy = await fixture(DatabaseProxy.open(api.database.applicationUrl));

let admin: pg.Client;
let target: ApiProcess;
let requests: string[];

beforeAll(async () => {
  admin = new pg.Client({ connectionString: api.database.adminUrl });
  await admin.connect();
  const key = await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[] });
  const body = (n: number) => JSON.stringify({ first_name: 'Ada', last_name: 'L', email: `slow${n}@database.example` });
  requests = Array.from({ length: REQUESTS }, (_, n) =>
    n % 2 === 0 ? requestOf('/v1/homework', key) : requestOf('/v1/students', key, { method: 'POST', body: body(n) }),
  );
});

beforeEach(() => {
  proxy.delay = 0;
  proxy.fate = 'carry';
});
afterEach(() => target.stop());

afterAll(() => admin.end());

const start = async (more: Record<string, string> = {}) => {
  target = await ApiProcess.start({ DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: String(POOL), LOG_LEVEL: 'error', ...more }); // prettier-ignore
  await load(target.port, { requests: [0, 1, 2].flatMap(() => others()), connections: 60, seconds: 2 });
};
/** Requests by the other two organizations. */
const others = () => [fixtures.b, fixtures.c].map(({ key }) => requestOf('/v1/tutors', key));
const once: Omit<Lane, 'requests'> = { connections: REQUESTS, seconds: 1, rate: REQUESTS };

/** Whether both organizations together get to use the whole pool within a second. */
async function poolIsFull(): Promise<boolean> {
  const [outcome] = await load(target.port, { requests: others(), connections: 2 * POOL, seconds: 1 });
  return outcome!.without(200).count === 0;
}
const late = ({ replies }: Outcome) => replies.filter(({ took }) => took > LIMIT_MS).length;
const longest = (outcome: Outcome) => `the longest ${(outcome.percentile(1) / 1_000).toFixed(1)} s`;

async function whileLocked(table: string, work: () => Promise<Outcome[]>): Promise<Outcome[]> {
  await admin.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  const [outcomes] = await Promise.all([work(), sleep(LOCKED_MS)]);
  await admin.query('ROLLBACK');
  return outcomes;
}

it.each(['homework', 'members', 'audit_log', 'idempotency_keys'])(
  'every request is answered in time while %s is locked, and others are served',
  async (table) => {
    await start();
    const seconds = LOCKED_MS / 1_000 - 2;
    const lanes: Lane[] = [
      { requests, ...once },
      { requests: [fixtures.b, fixtures.c].map(({ key }) => requestOf('/v1/ping', key)), connections: 4, rate: 20, seconds },
      { requests: [requestOf('/health/ready', '')], connections: 2, rate: 5, seconds },
    ];
    const [blocked, pings, ready] = (await whileLocked(table, () => load(target.port, ...lanes))) as [Outcome, Outcome, Outcome]; // prettier-ignore
    const whole = await poolIsFull();
    reached(32, `${table} locked: ${blocked.count} answers (${blocked.statuses}), ${longest(blocked)}, ${late(blocked)} late; ping ${pings.statuses}, p99 ${pings.percentile(0.99)} ms; pool ${whole ? 'full' : 'not full'} 1 s after`); // prettier-ignore
    expect(blocked.count).toBe(REQUESTS);
    expect(blocked.without(200, 201, 409, 422, 503).count).toBe(0);
    expect([late(blocked), blocked.untold, pings.without(200).count, ready.without(200).count]).toEqual([0, 0, 0, 0]);
    expect(whole).toBe(true);
  },
);

it('500 ms of added latency only slows requests down', async () => {
  await start();
  proxy.delay = 500;
  const [outcome] = await load(target.port, { requests, connections: 20, rate: 10, seconds: 10 });
  reached(32, `500 ms added: ${outcome!.statuses}, ${longest(outcome!)}, ${late(outcome!)} late`);
  expect(outcome!.without(200, 201, 409, 422, 503).count + late(outcome!) + outcome!.untold).toBe(0);
});

it.each<Fate>(['drop', 'reset', 'stall'])('failed connections (%s) are replaced, requests answered', async (fate) => {
  await start();
  setTimeout(() => (proxy.fate = fate), 2_000);
  setTimeout(() => (proxy.fate = 'carry'), 12_000);
  const [outcome] = (await load(target.port, { requests, connections: 200, rate: 30, seconds: 14 })) as [Outcome];
  await load(target.port, { requests: others(), connections: 60, seconds: 2 });
  const [whole, after] = [await poolIsFull(), proxy.connections];
  reached(32, `${fate} for 10 s: ${outcome.statuses}, ${longest(outcome)}, ${late(outcome)} late; ${after} connections after`); // prettier-ignore
  expect(outcome.without(200, 201, 409, 422, 503).count + late(outcome) + outcome.untold).toBe(0);
  expect(whole).toBe(true);
  // None is left behind: the pool's, and the one that the request log is written over.
  expect(after).toBeLessThanOrEqual(POOL + 1);
  expect(target.ended).toBeNull();
});

it('catches a process that waits for the database for ever', async () => {
  await start({ REQUEST_DEADLINE_SECONDS: '600' });
  proxy.fate = 'stall';
  const [outcome] = (await load(target.port, { requests, ...once })) as [Outcome];
  reached(32, `planted, no deadline: ${outcome.statuses}, ${late(outcome)} late`);
  expect(late(outcome)).toBeGreaterThan(0);
});
