import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Scope, SCOPES } from '@app/access';
import { createFixtures } from '../../support/data/fixtures.js';
import type { TestDatabase } from '../../support/database/database.js';
import { DatabaseProxy } from '../../support/database/database-proxy.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { reached } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { load, type Outcome, requestOf } from '../../support/load/load.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** Promises 32 and 47: a database that is locked, far away, cut off or frozen, as when a disk hangs. Takes about five minutes. */
const SECONDS = Number(process.env.SECONDS ?? 30);
const LIMIT_MS = 7_000;
const BACK_MS = 2_000;
const POOL = 10;
/** Before a fault, and after it (s). */
const [BEFORE, AFTER] = [2, 6];

await buildOnce();
const postgres = await fixture(OwnPostgres.start());
const api = await TestApi.start({}, { ...postgres.urls, adminUrl: postgres.adminUrl } as unknown as TestDatabase);
const { a: school, ...others } = await createFixtures(api);
const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });
await api.close();
const proxy = await fixture(DatabaseProxy.open(postgres.urls.applicationUrl));
const admin = new pg.Client({ connectionString: postgres.adminUrl });
await admin.connect();
afterAll(() => admin.end());

let written = 0;
/** Reads and writes in turns. */
const requests = () =>
  Array.from({ length: 200 }, (_, n) => {
    const body = JSON.stringify({ first_name: 'Ada', last_name: 'L', email: `slow${written++}@database.example` });
    return n % 2 === 0 ? requestOf('/v1/homework', key) : requestOf('/v1/students', key, { method: 'POST', body });
  });
/** Requests by two other organizations. */
const ofOthers = (path: string) => [others.b, others.c].map((other) => requestOf(path, other.key));

interface Fault {
  name: string;
  row?: number;
  seconds: number;
  begin: () => unknown;
  end: () => unknown;
  /** Whether other organizations notice. */
  everybody: boolean;
}

const locked = (table: string): Fault => ({
  name: `${table} locked`,
  seconds: SECONDS,
  begin: () => admin.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`),
  end: () => admin.query('ROLLBACK'),
  everybody: false,
});
const network = (fate: 'drop' | 'reset' | 'stall'): Fault => ({
  name: `every connection meets ${fate}`,
  seconds: SECONDS / 3,
  begin: () => (proxy.fate = fate),
  end: () => (proxy.fate = 'carry'),
  everybody: true,
});
const FAULTS: Fault[] = [
  ...['homework', 'members', 'audit_log', 'idempotency_keys'].map(locked),
  { name: '500 ms added', seconds: SECONDS / 3, begin: () => (proxy.delay = 500), end: () => (proxy.delay = 0), everybody: true },
  ...(['drop', 'reset', 'stall'] as const).map(network),
  {
    ...{ name: 'PostgreSQL frozen', row: 47, seconds: 2 * SECONDS, everybody: true },
    begin: () => postgres.signal('SIGSTOP'),
    end: () => postgres.signal('SIGCONT'),
  },
];

async function start(more: Record<string, string> = {}): Promise<ApiProcess> {
  const settings = { DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: String(POOL), LOG_LEVEL: 'error', ...more };
  const target = await inTest(ApiProcess.start(settings));
  await load(target.port, { requests: ofOthers('/v1/tutors'), connections: 60, seconds: 2 });
  return target;
}

/** Sends requests before, during and after the fault. */
async function meet(target: ApiProcess, { seconds, begin, end }: Fault) {
  let ended = 0;
  const strike = async () => {
    await sleep(BEFORE * 1_000);
    await begin();
    await sleep(seconds * 1_000);
    await end();
    ended = Date.now();
  };
  const all = BEFORE + seconds + AFTER;
  const lanes = [
    { requests: requests(), connections: 200, rate: 40, seconds: all },
    { requests: ofOthers('/v1/ping'), connections: 4, rate: 20, seconds: all },
    { requests: [requestOf('/health/ready', '')], connections: 2, rate: 5, seconds: all },
  ];
  const [outcomes] = await Promise.all([load(target.port, ...lanes), strike()]);
  const [met, pings, ready] = outcomes as [Outcome, Outcome, Outcome];
  const bad = met.replies.filter(({ status, at }) => (status === 503 || status === 0) && at > ended);
  // Whether both other organizations together get to use the whole pool.
  const [whole] = await load(target.port, { requests: ofOthers('/v1/tutors'), connections: 2 * POOL, seconds: 1 });
  return {
    met,
    noticed: pings.without(200).count + ready.without(200).count,
    wrong: {
      statuses: met.without(200, 201, 409, 422, 503).statuses,
      late: met.replies.filter(({ took }) => took > LIMIT_MS).length,
      untold: met.untold,
      pool: whole!.without(200).statuses,
      ...{ ended: target.ended, stderr: target.stderr },
    },
    wellAfter: Math.max(0, ...bad.map(({ at }) => at - ended)),
  };
}

it.each(FAULTS)('$name: every request is answered in time, and all is well soon after', async (fault) => {
  const { met, noticed, wrong, wellAfter } = await meet(await start(), fault);
  const longest = (met.percentile(1) / 1_000).toFixed(1);
  reached(fault.row ?? 32, `${fault.name} for ${fault.seconds} s: ${met.count} answers (${met.statuses}), the longest ${longest} s, ${wrong.late} late; well ${wellAfter} ms after; ${proxy.connections} connections`); // prettier-ignore
  expect(wrong).toEqual({ statuses: '', late: 0, untold: 0, pool: '', ended: null, stderr: '' });
  // After the others, who has waited for a lock or a connection still waits for a turn.
  if (fault.row) expect(wellAfter).toBeLessThanOrEqual(BACK_MS);
  if (!fault.everybody) expect(noticed).toBe(0);
  // None is left behind: the pool's, and the one that the request log is written over.
  expect(proxy.connections).toBeLessThanOrEqual(POOL + 1);
});

it('catches a process that waits for the database for ever', async () => {
  const { wrong } = await meet(await start({ REQUEST_DEADLINE_SECONDS: '600' }), { ...network('stall'), seconds: LIMIT_MS / 1_000 + 2 });
  reached(32, `planted, no deadline: ${wrong.late} late`);
  expect(wrong.late).toBeGreaterThan(0);
});
