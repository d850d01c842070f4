import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApi } from '../support/http/api.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { percentile } from '../support/data/percentile.js';
import { reached } from '../support/faults/promise.js';
import { bytesOf } from '../support/http/raw-http.js';
import type { SlowKind, SlowReport } from '../support/http/slow-attack.js';
import { attackSlowly, expectCutInTime, LIMIT, nodesLimits, SLACK, tellCuts } from '../support/http/slow-clients.js';
import { SteadyTraffic } from '../support/http/steady-traffic.js';
import { createWorld, type World } from '../support/data/world.js';

/** Promise 29: slow clients cannot exhaust the server. Takes about three minutes; Linux only (/proc). */
const SECONDS = Number(process.env.SECONDS ?? 60);
const CLIENTS = Number(process.env.CLIENTS ?? 1_000);
const COUNT: Record<SlowKind, number> = { headers: CLIENTS, body: CLIENTS, reader: CLIENTS / 5 };
const KINDS: SlowKind[] = ['headers', 'body', 'reader'];
const MOST_SLOWDOWN = 2;
/** Rate of the ordinary requests, and how long they run alone. */
const PER_SECOND = 50;
const ALONE_SECONDS = 30;

let api: TestApi;
let world: World;
let dataDir: string;
let victim: ApiProcess;

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  world = await createWorld(api);
  // A page of 16 MB and an image of 12 MB: more than the kernel's socket buffers hold.
  await world.make.query(
    `INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, classroom_id, description, organization_id)
     SELECT gen_random_uuid(), assigned_by, title, homework_type, 'classroom', student_id, classroom_id, repeat('x', 160000), organization_id
     FROM homework CROSS JOIN generate_series(1, 100) WHERE classroom_id = $1`,
    [world.a.path.classroom_id],
  );
  dataDir = mkdtempSync(join(tmpdir(), 'tutoring-slow-'));
  const folder = join(dataDir, 'media', 'organization', world.a.id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'large.png'), randomBytes(12_000_000));
}, 300_000);
afterEach(() => victim.stop());
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await api.stop();
});

const start = async (more: Record<string, string> = {}) => {
  const settings = { DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error', DATA_DIR: dataDir };
  victim = await ApiProcess.start({ ...settings, ...more });
};

/** Runs slow clients that belong to one organization. */
async function attack(count: Record<SlowKind, number>, seconds: number): Promise<SlowReport> {
  const key = await api.key(world.a.id, { scopes: ['read', 'accounts:write'] });
  const authorization: [string, string] = ['Authorization', `Token token=${key}`];
  const length: [string, string][] = [['Content-Type', 'application/json'], ['Content-Length', '1000']]; // prettier-ignore
  const image = bytesOf(`/media/organization/${world.a.id}/large.png`);
  const plan = {
    port: victim.port,
    bytes: {
      headers: ['GET /v1/ping HTTP/1.1\r\nHost: a\r\nX-A: '],
      body: [bytesOf('/v1/invites', { method: 'POST', headers: [authorization, ...length], body: '{' })],
      // An organization gets at most 240 MB of large pages at a time, so most readers fetch images.
      reader: [bytesOf('/v1/homework?limit=100', { headers: [authorization] }), ...Array<string>(19).fill(image)],
    },
    count,
  };
  return attackSlowly(plan, seconds);
}

it('slow clients are disconnected in time and do not slow down others', async () => {
  await start();
  const key = await api.key(world.b.id, { scopes: ['read', 'accounts:write'] });
  const traffic = new SteadyTraffic(victim.port, key, PER_SECOND);
  // Warm up.
  await sleep(5_000);
  traffic.reset();
  await sleep(ALONE_SECONDS * 1_000);
  const alone = percentile(traffic.times, 0.99);
  const failedAlone = traffic.failures.length;
  traffic.reset();
  const slow = await attack(COUNT, SECONDS);
  await traffic.stop();
  const beside = percentile(traffic.times, 0.99);
  reached(29, `${COUNT.headers} + ${COUNT.body} + ${COUNT.reader} slow clients for ${SECONDS} s: ${tellCuts(slow, KINDS)}; p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside them; ${traffic.failures.length} of ${traffic.times.length} failed, the slowest ${Math.max(...traffic.times).toFixed(0)} ms`); // prettier-ignore
  expect(failedAlone).toBe(0);
  expect(traffic.failures).toEqual([]);
  expectCutInTime(slow, COUNT, KINDS);
  expect(beside).toBeLessThanOrEqual(MOST_SLOWDOWN * alone);
});

it("catches a server with Node's default limits", async () => {
  await start(nodesLimits());
  const { oldest } = await attack({ headers: 20, body: 20, reader: 20 }, 2 * LIMIT.body + SLACK);
  const late = KINDS.map((kind) => oldest[kind] - LIMIT[kind]);
  console.log(
    `row 29, planted bug: still open ${late.map((seconds) => seconds.toFixed(0)).join(', ')} s after their limits`,
  );
  for (const seconds of late) expect(seconds).toBeGreaterThan(SLACK);
});
