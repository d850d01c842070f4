import { Metrics } from '../../../apps/api/src/http/metrics/metrics.js';
import { RateLimitStorage } from '../../../apps/api/src/http/rate-limit/rate-limit.storage.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';
import { TestRedis } from '../../support/worker/redis.js';

const LIMIT = 20;
const MINUTE = 60_000;

const redis = await fixture(TestRedis.start());
const settings = { REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: String(LIMIT), AUTH_FAILURES_PER_MINUTE: '6' };
const first = await fixture(TestApi.start(settings));
const second = await TestApi.start(settings, first.database);
const inside = redis.client();
const { id: organizationId } = await first.organizations.create({ name: 'Limited', slug: 'limited' });
afterAll(async () => {
  inside.disconnect();
  await second.close();
});

const storageOf = (api: TestApi) => api.app.get(RateLimitStorage);
const stateOf = (api: TestApi) => storageOf(api).redisState;
const until = (api: TestApi, state: string) => vi.waitFor(() => expect(stateOf(api)).toBe(state), { timeout: 20_000 });
const shared = () => Promise.all([until(first, 'up'), until(second, 'up')]);

/** What the log has said about Redis since it was last cleared. */
function said(api: TestApi): string[] {
  const lines = api.logged.filter((line) => line.includes('Redis'));
  return lines.map((line) => /rate limits are (shared|per process)/.exec(line)?.[1] ?? line);
}

async function fallbacksOf(api: TestApi): Promise<number> {
  const { values } = await api.app.get(Metrics).rateLimitFallbacks.get();
  return values[0]?.value ?? 0;
}

/** The number of requests that a process still allows a key; each is answered with 200 or 429. */
async function allowed(api: TestApi, key: string): Promise<number> {
  for (let count = 0; ; count++) {
    const answer = await api.get('/v1/ping', key);
    if (answer.status === 200) continue;
    expect([answer.status, answer.get('Retry-After')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    return count;
  }
}

/** Repeats work if Redis was late: on a busy machine, processes then rightly count by themselves. */
async function whileShared(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await shared();
    const fallbacks = async () => (await fallbacksOf(first)) + (await fallbacksOf(second));
    const before = await fallbacks();
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === 5 || (await fallbacks()) === before) throw error;
    }
  }
}

const newKey = () => first.key(organizationId);
/** Hits of alternating processes, one after the other or all at once. */
const alternate = (index: number) => (index % 2 ? first : second);

describe('limits in Redis', () => {
  it('apply to concurrent requests across both processes', () =>
    whileShared(async () => {
      const key = await newKey();
      const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => alternate(index).get('/v1/ping', key)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    })); // prettier-ignore

  it('apply to addresses that fail to authenticate, and leave nothing but lists that expire', () =>
    whileShared(async () => {
      await inside.flushall();
      const statuses: number[] = [];
      for (let index = 0; index < 8; index++) statuses.push((await alternate(index).get('/v1/ping')).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
      for (const name of await inside.keys('*')) {
        expect(name).toMatch(/^rate-limit:/);
        expect(await inside.pttl(name)).toBeGreaterThan(0);
      }
    }));

  it('are still shared when this process is held up for longer than it waits for Redis', () =>
    whileShared(async () => {
      const hit = storageOf(first).increment(`held-up-${performance.now()}`, MINUTE, 1);
      const end = performance.now() + 150;
      while (performance.now() < end);
      expect(await hit).toMatchObject({ isBlocked: false, totalHits: 1 });
      expect(stateOf(first)).toBe('up');
    }));

  it('allow at most once more in a minute in which Redis loses its data', () =>
    whileShared(async () => {
      const [key, spent] = [await newKey(), await newKey()];
      expect(await allowed(first, spent)).toBe(LIMIT);
      for (let count = 0; count < LIMIT; count++) await alternate(count).get('/v1/ping', key);
      await inside.flushall();
      expect((await allowed(first, key)) + (await allowed(second, key))).toBe(LIMIT);
      // A process that has said how long to wait stands by it.
      expect(await allowed(first, spent)).toBe(0);
    }));
});

describe('Redis is away', () => {
  it('because it was killed: no request fails, and each process has its own limit', async () => {
    let [spent, half] = ['', ''];
    await whileShared(async () => {
      [spent, half] = [await newKey(), await newKey()];
      expect(await allowed(first, spent)).toBe(LIMIT);
      for (let count = 0; count < LIMIT; count++) await alternate(count).get('/v1/ping', half);
    });
    first.logged.length = 0;
    await redis.kill();
    const statuses = new Set<number>();
    for (let count = 0; stateOf(first) === 'up' || stateOf(second) === 'up' || count < 20; count++) {
      statuses.add((await first.get('/v1/ping', spent)).status);
      statuses.add((await alternate(count).get('/v1/me', await newKey())).status);
    }
    expect([...statuses].sort()).toEqual([200, 429]);
    // Each goes on from what it allowed itself.
    const rest = [await allowed(first, half), await allowed(second, half), await allowed(second, spent)];
    expect(rest).toEqual([LIMIT / 2, LIMIT / 2, LIMIT]);
    expect((await first.get('/health/ready')).body).toMatchObject({ status: 'degraded', checks: { redis: 'away' } });
    expect(await fallbacksOf(first)).toBeGreaterThan(0);
    await vi.waitFor(() => expect(said(first)).toEqual(['per process']));
  });

  it('and comes back, empty: limits are shared again, and the log says so once', async () => {
    await redis.restart();
    await shared();
    expect(said(first)).toEqual(['per process', 'shared']);
    expect((await first.get('/health/ready')).body).toMatchObject({ checks: { redis: 'up' } });
    await whileShared(async () => {
      const key = await newKey();
      expect((await allowed(first, key)) + (await allowed(second, key))).toBe(LIMIT);
    });
  });

  it('because it hangs: a single request waits 50 ms for it, and what it misses is counted when it answers again', () =>
    whileShared(async () => {
      const [name, storage, sentAt] = [`hangs-${performance.now()}`, storageOf(first), performance.now()];
      redis.pause();
      await storage.increment(name, MINUTE, 10_000);
      const waited = performance.now() - sentAt;
      expect(waited).toBeGreaterThanOrEqual(49);
      for (let count = 1; count < 1_000; count++) await storage.increment(name, MINUTE, 10_000);
      const all = performance.now() - sentAt;
      console.log(`Redis hangs: the first request took ${waited.toFixed(0)} ms, 1,000 took ${all.toFixed(0)} ms`);
      expect([all < 5_000, stateOf(first)]).toEqual([true, 'away']);
      await vi.waitFor(() => expect(said(first).at(-1)).toBe('per process'));
      redis.resume();
      await shared();
      expect(await storageOf(second).increment(name, MINUTE, 10_000)).toMatchObject({ totalHits: 1_001 });
    }));

  it('because it refuses writes: processes count by themselves', async () => {
    await inside.config('SET', 'maxmemory', '1');
    for (const api of [first, second]) expect(await allowed(api, await newKey())).toBe(LIMIT);
    expect(stateOf(first)).toBe('away');
    await inside.config('SET', 'maxmemory', '0');
    await shared();
  });

  it('briefly at the start: the process waits for it, but not for long', async () => {
    const startPaused = async (milliseconds: number) => {
      redis.pause();
      const late = setTimeout(() => redis.resume(), milliseconds);
      const api = await TestApi.start(settings, first.database);
      const state = stateOf(api);
      clearTimeout(late);
      redis.resume();
      await api.close();
      return state;
    };
    expect(await startPaused(500)).toBe('up');
    expect(await startPaused(600_000)).toBe('away');
  });
});
