import { TestApi } from '../support/http/api.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { Factories } from '../support/data/factories.js';
import { type Lane, load, type Outcome, requestOf } from '../support/http/load.js';
import { plantedBug } from '../support/faults/planted-bug.js';
import { memoryOf } from '../support/process/processes.js';
import { reached } from '../support/faults/promise.js';

/** Promise 30: under three times its capacity for a minute, a process still does nearly as much as at its peak. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const TIMES = 3;
const ORGANIZATIONS = 8;
/** Enough to reach the peak, and to keep up the rate when responses are slow. */
const USUAL_CONNECTIONS = 32;
const MOST_CONNECTIONS = 400;
const LEAST_GOODPUT = 0.8;
const MOST_UNANSWERED = 0.05;
const REFUSED_MS = 50;
const PING_MS = 100;
const BACK_SECONDS = 5;
const MOST_GROWTH_MB = 100;

let api: TestApi;
let make: Factories;
let keys: string[];

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  keys = [];
  for (let count = 0; count < ORGANIZATIONS; count++) {
    const { id } = await make.organization();
    const tutor = await make.tutor(id);
    for (let n = 0; n < 30; n++) await make.homework(tutor.id, {}, id);
    keys.push(await api.key(id));
  }
}, 300_000);

afterAll(async () => {
  await make.close();
  await api.stop();
});

const start = (more: Record<string, string> = {}) =>
  ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error', ...more });
const reads = () => keys.map((key) => requestOf('/v1/homework', key));

/** Measures the capacity, then sends three times as much. */
async function overload(target: ApiProcess, seconds: number) {
  const usual = { requests: reads(), connections: USUAL_CONNECTIONS };
  await load(target.port, { ...usual, seconds: 5 });
  const [peak] = (await load(target.port, { ...usual, seconds: 8 })) as [Outcome];
  const before = memoryOf(target.pid, 'VmRSS');
  const rate = Math.round(TIMES * peak.with(200).perSecond);
  const lanes: Lane[] = [
    { requests: reads(), connections: MOST_CONNECTIONS, rate, seconds },
    { requests: [requestOf('/v1/ping', keys[0]!)], connections: 20, rate: 20, seconds },
    { ...usual, connections: 8, seconds: BACK_SECONDS, rate: 100, delay: seconds },
  ];
  const [all, pings, after] = (await load(target.port, ...lanes)) as [Outcome, Outcome, Outcome];
  const refused = all.with(429, 503);
  const unanswered = all.unsent / (all.unsent + all.count);
  const goodput = all.with(200).perSecond / peak.with(200).perSecond;
  const growth = memoryOf(target.pid, 'VmRSS') - before;
  const figures =
    `${peak.with(200).perSecond.toFixed(0)}/s at best; of ${rate}/s ${(goodput * 100).toFixed(0)} % of that (${all.statuses}), ` +
    `${(unanswered * 100).toFixed(0)} % found every connection waiting, refusals p95 ${refused.percentile(0.95)} ms, ping p99 ${pings.percentile(0.99)} ms (${pings.statuses}), ` +
    `after it ${after.statuses}, RSS +${growth.toFixed(0)} MB`;
  return { all, pings, after, refused, goodput, unanswered, figures, growth };
}

it('a process refuses requests beyond its capacity and serves the rest at full speed', async () => {
  const target = await start();
  try {
    const { all, pings, after, refused, goodput, unanswered, figures, growth } = await overload(target, SECONDS);
    reached(30, figures);
    expect([all.without(200, 429, 503).count, all.untold, pings.without(200).count]).toEqual([0, 0, 0]);
    expect(refused.count).toBeGreaterThan(0);
    expect(unanswered).toBeLessThanOrEqual(MOST_UNANSWERED);
    expect(goodput).toBeGreaterThanOrEqual(LEAST_GOODPUT);
    expect(refused.percentile(0.95)).toBeLessThanOrEqual(REFUSED_MS);
    expect(pings.percentile(0.99)).toBeLessThanOrEqual(PING_MS);
    expect(after.without(200).count).toBe(0);
    expect(growth).toBeLessThan(MOST_GROWTH_MB);
  } finally {
    await target.stop();
  }
});

it('catches a process that admits everything', async () => {
  const target = await start(
    plantedBug(
      '../../../libs/serving/src/admission.js',
      `module.Admission.prototype.placesFor = function () {
         return this.usual;
       };`,
    ),
  );
  try {
    const { unanswered, figures } = await overload(target, Math.min(SECONDS, 15));
    reached(30, `planted, everything admitted: ${figures}`);
    expect(unanswered).toBeGreaterThan(MOST_UNANSWERED);
  } finally {
    await target.stop();
  }
});
