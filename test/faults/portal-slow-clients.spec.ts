import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../support/data/percentile.js';
import { reached } from '../support/faults/promise.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { bytesOf } from '../support/http/raw-http.js';
import type { SlowKind, SlowReport } from '../support/http/slow-attack.js';
import { attackSlowly, expectCutInTime, LIMIT, nodesLimits, SLACK, tellCuts } from '../support/http/slow-clients.js';
import { type Someone, TestPortal } from '../support/portal/portal.js';

/**
 * Promise 29 for the portal: slow headers and half-sent forms. Its pages fit into the kernel's socket buffer, so slow
 * readers cannot hold it.
 */
const SECONDS = Number(process.env.SECONDS ?? 60);
const CLIENTS = Number(process.env.CLIENTS ?? 1_000);
const COUNT: Record<SlowKind, number> = { headers: CLIENTS, body: CLIENTS, reader: 0 };
const MOST_SLOWDOWN = 2;
const ALONE_SECONDS = 20;
/** Pause between two page views (ms). */
const PAUSE = 20;
const KINDS: SlowKind[] = ['headers', 'body'];

let portal: TestPortal;
let owner: Someone;
let victim: ApiProcess;

beforeAll(async () => {
  await buildOnce();
  portal = await TestPortal.start();
  owner = await portal.someone('owner');
}, 300_000);
afterEach(() => victim.stop());
afterAll(() => portal.stop());

const start = async (more: Record<string, string> = {}) => {
  const settings = {
    PORTAL_DATABASE_URL: portal.database.portalUrl,
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    TRUST_PROXY: 'true',
    // One owner stands for many.
    PORTAL_REQUESTS_PER_MINUTE: '1000000',
    LOG_LEVEL: 'error',
  };
  victim = await ApiProcess.start({ ...settings, ...more }, [], 'portal');
};

/** Runs slow clients of one network. */
async function attack(count: Record<SlowKind, number>, seconds: number): Promise<SlowReport> {
  const headers: [string, string][] = [
    ['Sec-Fetch-Site', 'same-origin'],
    ['Content-Type', 'application/x-www-form-urlencoded'],
    ['Content-Length', '1000'],
    ['X-Forwarded-For', '198.51.100.1'],
  ];
  const plan = {
    port: victim.port,
    bytes: {
      headers: ['GET /sign-in HTTP/1.1\r\nHost: a\r\nX-A: '],
      body: [bytesOf('/sign-in', { method: 'POST', headers, body: 'email=' })],
      reader: [],
    },
    count,
  };
  return attackSlowly(plan, seconds);
}

/** An owner who opens one page after another until told to stop. @returns the times (ms) */
function browse(): { times: number[]; failures: string[]; stop: () => Promise<void> } {
  const times: number[] = [];
  const failures: string[] = [];
  const stopped = new AbortController();
  const visits = (async () => {
    while (!stopped.signal.aborted) {
      const began = performance.now();
      try {
        const { status } = await fetch(`http://127.0.0.1:${victim.port}/o/${owner.organization.slug}/keys`, {
          headers: { Cookie: owner.cookie },
        });
        if (status !== 200) failures.push(String(status));
      } catch (error) {
        failures.push(String(error));
      }
      times.push(performance.now() - began);
      await sleep(PAUSE);
    }
  })();
  return {
    times,
    failures,
    stop: () => {
      stopped.abort();
      return visits;
    },
  };
}

it('slow clients are disconnected in time and do not slow down others', async () => {
  await start();
  const warmUp = browse();
  await sleep(5_000);
  await warmUp.stop();
  const quiet = browse();
  await sleep(ALONE_SECONDS * 1_000);
  await quiet.stop();
  const busy = browse();
  const slow = await attack(COUNT, SECONDS);
  await busy.stop();
  const [alone, beside] = [percentile(quiet.times, 0.99), percentile(busy.times, 0.99)];
  reached(29, `portal, ${CLIENTS} slow headers + ${CLIENTS} half-sent forms for ${SECONDS} s: ${tellCuts(slow, KINDS)}; p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside them; ${busy.failures.length} of ${busy.times.length} failed`); // prettier-ignore
  expect([...quiet.failures, ...busy.failures]).toEqual([]);
  expectCutInTime(slow, COUNT, KINDS);
  expect(beside).toBeLessThanOrEqual(MOST_SLOWDOWN * alone);
});

it("catches a server with Node's default limits", async () => {
  await start(nodesLimits());
  const { oldest } = await attack({ headers: 20, body: 20, reader: 0 }, 2 * LIMIT.body + SLACK);
  for (const kind of KINDS) expect(oldest[kind]).toBeGreaterThan(LIMIT[kind] + SLACK);
});
