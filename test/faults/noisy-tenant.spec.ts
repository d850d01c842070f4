import { TestApi } from '../support/http/api.js';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { compare, tell } from '../support/http/beside.js';
import { Factories } from '../support/data/factories.js';
import { requestOf } from '../support/http/load.js';
import { plantedBug } from '../support/faults/planted-bug.js';
import { reached } from '../support/faults/promise.js';

/** Promise 31: one tenant sends twenty times its limit. */
const SECONDS = Number(process.env.SECONDS ?? 60);
const LIMIT = 600;
const TIMES = 20;
const MOST_SLOWDOWN = 1.5;
/** The other tenant's requests per second and key, within its limit. */
const USUAL_RATE = 9;

let api: TestApi;
let make: Factories;
let noisy: string;
let usual: string[];

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  const school = async () => {
    const { id } = await make.organization();
    const tutor = await make.tutor(id);
    for (let n = 0; n < 50; n++) await make.homework(tutor.id, {}, id);
    return id;
  };
  noisy = await api.key(await school());
  const other = await school();
  // Limits are per key. A single key could not send enough requests for a p99.
  usual = await Promise.all(Array.from({ length: 6 }, () => api.key(other)));
}, 300_000);

afterAll(async () => {
  await make.close();
  await api.stop();
});

async function measure(more: Record<string, string> = {}, times = TIMES) {
  const settings = {
    DATABASE_URL: api.database.applicationUrl,
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    LOG_LEVEL: 'error',
  };
  const target = await ApiProcess.start({ ...settings, ...more });
  try {
    const lane = { requests: usual.map((key) => requestOf('/v1/homework', key)), connections: 8, rate: usual.length * USUAL_RATE, seconds: 0 }; // prettier-ignore
    const noise = { requests: [requestOf('/v1/homework?limit=100', noisy)], connections: 50, rate: (times * LIMIT) / 60, seconds: 0 }; // prettier-ignore
    await compare(target.port, lane, [noise], 4, 1);
    return await compare(target.port, lane, [noise], SECONDS);
  } finally {
    await target.stop();
  }
}

it('a tenant at twenty times its limit does not slow another one down', async () => {
  const result = await measure();
  reached(31, `${tell(result)}; the noisy one ${result.others[0]!.statuses}`);
  expect(result.beside.without(200).count + result.alone.without(200).count).toBe(0);
  expect(result.others[0]!.without(200, 429, 503).count + result.others[0]!.untold).toBe(0);
  expect(result.slowdown).toBeLessThanOrEqual(MOST_SLOWDOWN);
});

it('catches a process that does not limit it', async () => {
  const result = await measure(
    plantedBug(
      'http/rate-limit/rate-limit.guard.js',
      `module.RateLimitGuard.prototype.canActivate = async () => true;`,
    ),
    10 * TIMES,
  );
  reached(31, `planted, no limit: ${tell(result)}; the noisy one ${result.others[0]!.statuses}`);
  expect(result.slowdown).toBeGreaterThan(MOST_SLOWDOWN);
});
