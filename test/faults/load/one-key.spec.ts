import { image } from '../../support/data/images.js';
import { type Attack, Neighbourhood } from '../../support/faults/neighbourhood.js';
import { reached } from '../../support/faults/promise.js';
import type { ApiProcess } from '../../support/http/api-process.js';
import { load, type Outcome } from '../../support/load/load.js';
import { MULTIPART, multipart, part } from '../../support/http/uploads.js';
import { forgetPeak, memoryOf } from '../../support/process/processes.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 43: the heaviest that one key, or somebody without one, can send, a minute of each. Takes about eight minutes. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const ROUNDS = 2;
const TIMING = { quiet: SECONDS / 6, attacked: SECONDS / ROUNDS, rounds: ROUNDS };
const ROWS = Number(process.env.ROWS ?? 1_000_000);
const LONGEST_BODY = 3 * 1_048_576;
/** What the attacker's network carries (bytes a second). Unlimited, copying its bytes would take both processors here. */
const GIGABIT = 125e6;
/** By how much unfinished bodies may increase the process's memory (MB). */
const MOST_GROWTH = 150;
/** Refusals are that quick (ms) while at most so many wait for theirs. */
const REFUSED_MS = 50;
const AT_ONCE = 40;

const HALF_A_BODY = ' '.repeat(LONGEST_BODY / 2);
const JSON_HEADERS: [string, string][] = [['Content-Type', 'application/json'], ['Content-Length', String(LONGEST_BODY)]]; // prettier-ignore

const ATTACKS: Attack[] = [
  {
    name: '50 connections, the deepest offsets',
    traffic: (of) => ({ requests: [of.request(`/v1/homework?limit=100&offset=${ROWS - 100}`)], connections: 50 }),
  },
  {
    name: '12 connections, the heaviest images',
    traffic: async (of) => {
      const upload = multipart(part(await image('jpeg', { width: 8_192, height: 6_144 })));
      const headers: [string, string][] = [['Content-Type', MULTIPART], ['Content-Length', String(upload.length)]]; // prettier-ignore
      const head = of.request('/v1/blog-images', { method: 'POST', headers });
      return { requests: [head + upload.toString('latin1')], connections: 12, bytesPerSecond: GIGABIT };
    },
    statuses: [0],
  },
  {
    name: '300 connections, half of the largest bodies',
    traffic: (of) => ({
      requests: [of.request('/v1/blog-posts', { method: 'POST', headers: JSON_HEADERS }) + HALF_A_BODY],
      connections: 300,
      bytesPerSecond: GIGABIT,
    }),
    // Half a body is followed by the start of the next request, so that the body never ends as it began.
    statuses: [0, 400, 408],
  },
  {
    name: '50 connections, unknown keys from one address',
    traffic: (of) => ({ requests: of.unknownKeys(['203.0.113.9']), connections: 50 }),
    statuses: [401],
  },
];

let target: ApiProcess;

const neighbours = await fixture(Neighbourhood.open(ROWS));

afterEach(() => target.stop());

it.each(ATTACKS)('another organization hardly notices $name', async (attack) => {
  target = await neighbours.start();
  forgetPeak(target.pid);
  const before = memoryOf(target.pid, 'VmRSS');
  const result = await neighbours.measure(target, attack, TIMING);
  const growth = memoryOf(target.pid, 'VmHWM') - before;
  reached(43, `${attack.name}: ${String(result)}, RSS +${growth.toFixed(0)} MB`);
  expect(result.breaches).toEqual([]);
  expect(growth).toBeLessThan(MOST_GROWTH);
  expect([target.ended, target.stderr]).toEqual([null, '']);
});

it('another organization hardly notices a key far over its limit, which is refused at once', async () => {
  target = await neighbours.start({ RATE_LIMIT_PER_MINUTE: '' });
  const requests = [neighbours.request('/v1/homework')];
  const attack: Attack = { name: 'a key over its limit', traffic: () => ({ requests, connections: 300 }) };
  const result = await neighbours.measure(target, attack, TIMING);
  const [few] = (await load(target.port, { requests, connections: AT_ONCE, seconds: 5 })) as [Outcome];
  const refused = few.with(429, 503);
  reached(43, `${attack.name}: ${String(result)}; ${AT_ONCE} at once: ${few.statuses}, refusals p95 ${refused.percentile(0.95)} ms`); // prettier-ignore
  expect(result.breaches).toEqual([]);
  expect(refused.count).toBeGreaterThan(100);
  expect(refused.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
});
