import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApiKeys } from '@app/access';
import { loadEnv } from '@app/config';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import type { Load, LoadResult } from '../../../bench/load.js';
import { ApiProcess } from '../../support/http/api-process.js';
import { percentile } from '../../support/data/percentile.js';
import { memoryOf } from '../../support/process/processes.js';
import { reached } from '../../support/faults/promise.js';
import { Mailroom } from '../../support/worker/mailroom.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 37: memory and latency do not drift over time. Takes half an hour. */
const MINUTES = Number(process.env.MINUTES ?? 30);
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const SHARE = 0.5;
const CONNECTIONS = 16;
/** Minutes to compare at either end. The heap has reached its size after the first ones. */
const ENDS = Math.min(5, Math.floor(MINUTES / 2));
const INVITES_A_MINUTE = 30;

/** Leaks half a megabyte per second. */
const PLANTED = 'data:text/javascript,const kept = []; setInterval(() => kept.push(Buffer.alloc(5e5, 1)), 1e3).unref();';
const LOAD = fileURLToPath(new URL('../../../dist/bench/load.js', import.meta.url));

interface Minute {
  /** ms */
  p99: number;
  failures: number;
  /** MB */
  rss: number;
  descriptors: number;
  /** Age of the oldest unsent mail (s). */
  lag: number;
}

let api: ApiProcess;

const mailroom = await fixture(Mailroom.open());
const room = mailroom.outbox;
const { id: tutor } = await room.make.tutor(room.organizationId);
await room.make.query(
  `INSERT INTO homework (id, organization_id, assigned_by, title, homework_type, scope)
     SELECT gen_random_uuid(), $1, $2, 'Fractions', 'text', 'student' FROM generate_series(1, $3)`,
  [room.organizationId, tutor, ROWS],
);
await room.make.query('ANALYZE');
const keys = (await rulesOn(room.db, loadEnv(room.settings, {}))).get(ApiKeys);
const { key } = await keys.create(room.organizationId, { name: 'soak', scopes: ['read', 'accounts:write'] });
await mailroom.hire();
const load = fork(LOAD);
afterAll(() => void load.kill());

async function request(wish: Pick<Load, 'seconds' | 'rate'>): Promise<LoadResult> {
  const url = `http://127.0.0.1:${api.port}/v1/homework?limit=20`;
  load.send({ url, key, connections: CONNECTIONS, ...wish });
  const [{ result }] = (await once(load, 'message')) as [{ result: LoadResult }];
  return result;
}

async function invite(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${api.port}/v1/invites`, {
    method: 'POST',
    headers: { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ scope: 'organization', email: `${crypto.randomUUID()}@example.org` }),
  });
  expect(response.status).toBe(201);
}

async function minute(rate: number): Promise<Minute> {
  const invites: Promise<void>[] = [];
  const inviting = setInterval(() => invites.push(invite()), 60_000 / INVITES_A_MINUTE);
  const { p99, failures } = await request({ seconds: 60, rate });
  clearInterval(inviting);
  await Promise.all(invites);
  const [oldest] = await room.make.query<{ lag: number }>(
    `SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS lag FROM outbox WHERE status = 'queued'`,
  );
  return {
    p99,
    failures: Object.values(failures).reduce((sum, times) => sum + times, 0),
    rss: memoryOf(api.pid, 'VmRSS'),
    descriptors: readdirSync(`/proc/${api.pid}/fd`).length,
    lag: oldest!.lag,
  };
}

/** Slope per minute, by least squares. */
function slope(values: number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [over, under] = values.reduce(([over, under], value, at) => [over + (at - middle) * (value - mean), under + (at - middle) ** 2], [0, 0]);
  return over / under;
}

/** Runs at half the process's capacity and measures each minute. */
async function soak(count: number, flags: string[]): Promise<{ rate: number; minutes: Minute[] }> {
  api = await ApiProcess.start({ ...room.settings, LOG_LEVEL: 'error' }, flags);
  try {
    await request({ seconds: 10 });
    const { requestsPerSecond } = await request({ seconds: 10 });
    const rate = Math.floor(requestsPerSecond * SHARE);
    const minutes: Minute[] = [];
    for (let n = 0; n < count; n++) minutes.push(await minute(rate));
    return { rate, minutes };
  } finally {
    await api.stop();
  }
}

it(`${MINUTES} minutes at half load on ${ROWS} rows: nothing grows`, { timeout: (MINUTES + 10) * 60_000 }, async () => {
  const { rate, minutes } = await soak(MINUTES, []);
  const settled = minutes.slice(ENDS);
  const growth = slope(settled.map(({ rss }) => rss));
  const descriptors = settled.at(-1)!.descriptors - settled[0]!.descriptors;
  const p99s = minutes.map(({ p99 }) => p99);
  const ends = [p99s.slice(0, ENDS), p99s.slice(-ENDS)].map((end) => percentile(end, 0.5));
  const lag = Math.max(...minutes.map(({ lag }) => lag));
  reached(
    37,
    `${MINUTES} min at ${rate} requests/s on ${ROWS} rows: RSS ${settled[0]!.rss.toFixed(0)} -> ${settled.at(-1)!.rss.toFixed(0)} MB ` +
      `(${growth.toFixed(2)} MB/min), descriptors ${descriptors >= 0 ? '+' : ''}${descriptors}, ` +
      `p99 ${ends.map((ms) => ms.toFixed(1)).join(' -> ')} ms, outbox at most ${lag.toFixed(0)} s behind`,
  );
  expect(minutes.reduce((sum, { failures }) => sum + failures, 0)).toBe(0);
  expect(growth).toBeLessThan(1);
  expect(descriptors).toBeLessThanOrEqual(2);
  expect(ends[1]! / ends[0]!).toBeLessThanOrEqual(1.2);
  expect(lag).toBeLessThanOrEqual(60);
});

it('catches a leak', { timeout: 600_000 }, async () => {
  const { minutes } = await soak(4, ['--import', PLANTED]);
  const growth = slope(minutes.slice(1).map(({ rss }) => rss));
  reached(37, `planted: ${growth.toFixed(2)} MB/min`);
  expect(growth).toBeGreaterThan(1);
});
