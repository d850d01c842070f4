import { TestApi } from '../../support/http/api.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { load, type Outcome, requestOf } from '../../support/load/load.js';
import { memoryOf } from '../../support/process/processes.js';
import { plantedBug } from '../../support/faults/planted-bug.js';
import { reached } from '../../support/faults/promise.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** Promise 30: under three times its capacity for a minute, a process still does nearly as much as at its peak. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const TIMES = 3;
const ORGANIZATIONS = 8;
/** Enough to reach the peak. */
const USUAL_CONNECTIONS = 32;
/** More than a process lets in, of which each may wait to be refused. */
const MOST_CONNECTIONS = 1_000;
/** At most 40 more than may wait for a turn. */
const FEW_REFUSED = 300;
const LEAST_GOODPUT = 0.75;
const REFUSED_MS = 50;
const HEALTH_MS = 100;
const BACK_SECONDS = 5;
const MOST_GROWTH_MB = 100;

await buildOnce();
const api = await fixture(TestApi.start());
const { make } = api;
const keys: string[] = [];
for (let count = 0; count < ORGANIZATIONS; count++) {
  const { id } = await make.organization();
  const tutor = await make.tutor(id);
  for (let n = 0; n < 30; n++) await make.homework(tutor.id, {}, id);
  keys.push(await api.key(id));
}

/** Measures the capacity, then sends three times as much. */
async function overload(seconds: number, settings: Record<string, string> = {}) {
  const target = await inTest(ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error', ...settings }));
  const requests = keys.map((key) => requestOf('/v1/homework', key));
  const usual = { requests, connections: USUAL_CONNECTIONS };
  await load(target.port, { ...usual, seconds: 5 });
  const [peak] = (await load(target.port, { ...usual, seconds: 8 })) as [Outcome];
  const before = memoryOf(target.pid, 'VmRSS');
  const best = peak.with(200).perSecond;
  const [all, health, after] = (await load(
    target.port,
    { requests, connections: MOST_CONNECTIONS, rate: Math.round(TIMES * best), seconds },
    { requests: [requestOf('/health/ready', null)], connections: 20, rate: 20, seconds },
    { ...usual, connections: 8, rate: 100, seconds: 3, delay: seconds + BACK_SECONDS },
  )) as [Outcome, Outcome, Outcome];
  const [few] = (await load(target.port, { requests, connections: FEW_REFUSED, seconds: 8 })) as [Outcome];
  const refused = few.with(429, 503);
  const goodput = all.with(200).perSecond / best;
  const growth = memoryOf(target.pid, 'VmRSS') - before;
  const figures = `${best.toFixed(0)}/s at best; of ${TIMES} times that, ${(goodput * 100).toFixed(0)} % of the best (${all.statuses}; ${all.unsent} found every connection waiting); refusals of ${FEW_REFUSED} connections p95 ${refused.percentile(0.95)} ms (${few.statuses}); health at most ${health.percentile(1)} ms (${health.statuses}); after it ${after.statuses}, RSS +${growth.toFixed(0)} MB`; // prettier-ignore
  return { all, health, after, refused, goodput, growth, figures };
}

it('a process refuses requests beyond its capacity and serves the rest at full speed', async () => {
  const { all, health, after, refused, goodput, growth, figures } = await overload(SECONDS);
  reached(30, figures);
  expect([all.without(200, 429, 503).count, all.untold, health.without(200).count]).toEqual([0, 0, 0]);
  expect(all.with(429, 503).count).toBeGreaterThan(0);
  expect(goodput).toBeGreaterThanOrEqual(LEAST_GOODPUT);
  expect(refused.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
  expect(health.percentile(1)).toBeLessThanOrEqual(HEALTH_MS);
  expect(after.without(200).count).toBe(0);
  expect(growth).toBeLessThan(MOST_GROWTH_MB);
});

it('catches a process whose refusals cost as much as answers', async () => {
  const { goodput, figures } = await overload(
    Math.min(SECONDS, 15),
    plantedBug(
      '../../../libs/concurrency/src/turns.js',
      `const { refuseNewestOfLongestQueue: refuse } = module.Turns.prototype;
       module.Turns.prototype.refuseNewestOfLongestQueue = function () {
         for (const until = performance.now() + 2; performance.now() < until;);
         refuse.call(this);
       };`,
    ),
  );
  reached(30, `planted, expensive refusals: ${figures}`);
  expect(goodput).toBeLessThan(LEAST_GOODPUT);
});
