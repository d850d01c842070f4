import type { RateLimitRedis } from '../../apps/api/src/http/rate-limit/rate-limit.redis.js';
import { TestApi } from '../support/http/api.js';
import { LIMIT, linesAbout, SharedLimits, storageOf, until } from '../support/http/shared-limits.js';

let on: SharedLimits;

beforeAll(async () => {
  on = await SharedLimits.open();
});

afterAll(() => on.close());

const redisOf = (api: TestApi) => Reflect.get(storageOf(api), 'redis') as RateLimitRedis;

/** The number of processes that this one expects to share the limit while Redis is away. */
const processesKnownTo = (api: TestApi) => Reflect.get(redisOf(api), 'processes') as number;

describe('Redis is away', () => {
  /** Sends one request after the other. @returns the statuses, and how long each took (ms) */
  async function load(
    key: string,
    enough: (sent: number) => boolean,
  ): Promise<{ statuses: Set<number>; waits: number[] }> {
    const statuses = new Set<number>();
    const waits: number[] = [];
    while (!enough(waits.length)) {
      const sent = performance.now();
      statuses.add((await on.first.get('/v1/ping', key)).status);
      waits.push(performance.now() - sent);
    }
    return { statuses, waits };
  }

  /** The transitions in the log, in order. */
  const said = (api: TestApi) =>
    linesAbout(api, 'Redis').map((line) =>
      line.includes('Redis does not respond: rate limits are per process') ? 'away' : 'back',
    );

  /** The number of requests that a process still allows the key. */
  async function allowed(api: TestApi, key: string): Promise<number> {
    for (let count = 0; ; count++) {
      const answer = await api.get('/v1/ping', key);
      if (answer.status === 200) continue;
      expect([answer.status, answer.get('Retry-After')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
      return count;
    }
  }

  let unspent: { key: string; window: string };

  it('during requests: no request fails, processes divide the remaining limit, and the log says so once', async () => {
    await until('both processes know of each other alone', () =>
      [on.first, on.second].every((api) => processesKnownTo(api) === 2),
    );
    const fresh = await on.newKey();
    const spent = await on.whileShared(async () => {
      const [all, half] = [await on.newKey(), await on.newKey()];
      expect(await allowed(on.first, all.key)).toBe(LIMIT);
      for (let time = 0; time < 10; time++) await (time % 2 ? on.first : on.second).get('/v1/ping', half.key);
      expect(Object.values(await on.inside.hgetall(half.window)).reduce((sum, hits) => sum + Number(hits), 0)).toBe(10);
      unspent = half;
      return all;
    });
    // Redis loses this second. What a process allows in it may hide a hit that only the other process knows of.
    const lost = Date.now();

    const before = said(on.first).length;
    let [killedAt, sent] = [Infinity, 0];
    const running = load(spent.key, (count) => (sent = count) > killedAt + 20);
    await until('requests are under way', () => sent > 20);
    await on.redis.kill();
    killedAt = sent;
    expect([...(await running).statuses]).toEqual([429]);

    expect([await allowed(on.first, fresh.key), await allowed(on.second, fresh.key)]).toEqual([LIMIT / 2, LIMIT / 2]);
    await until('that second is over', () => Date.now() > lost + 1_100);
    // Ten were left; the second process had not heard of the last hit.
    expect([await allowed(on.first, unspent.key), await allowed(on.second, unspent.key)]).toEqual([5, 6]);
    await until('the log says so', () => said(on.first).at(-1) === 'away');
    expect(said(on.first).length - before).toBeLessThanOrEqual(1);
    expect(linesAbout(on.first, '"level":"error"')).toEqual([]);
    expect((await on.first.get('/health/ready')).body).toMatchObject({ status: 'degraded', checks: { redis: 'away' } });
  });

  it('and comes back: limits are shared again within seconds, no counted request is lost, and the log says so once', async () => {
    await on.redis.restart();
    const { key, window } = await on.newKey();
    await until('the hit of a request is in Redis', async () => {
      await on.first.get('/v1/ping', key);
      return (await on.inside.exists(window)) === 1;
    });
    expect(said(on.first).slice(-2)).toEqual(['away', 'back']);
    expect((await on.first.get('/health/ready')).body).toMatchObject({ checks: { redis: 'up' } });
    // Both have reported.
    await vi.waitFor(async () => {
      const counts = Object.values(await on.inside.hgetall(unspent.window)).map(Number);
      expect(counts.reduce((sum, hits) => sum + hits, 0)).toBe(10 + 5 + 6);
    });
    expect([await allowed(on.first, unspent.key), await allowed(on.second, unspent.key)]).toEqual([0, 0]);
  });

  it('because it hangs: only one request waits for it', async () => {
    const { key } = await on.newKey();
    await load(key, () => storageOf(on.first).redisState === 'up' && !redisOf(on.first).late);
    const asked = vi.spyOn(redisOf(on.first), 'hit');
    on.redis.pause();
    const { statuses, waits } = await load(key, (sent) => sent > 50 && said(on.first).at(-1) === 'away');
    // All are answered, and Redis still hangs. The first one finds out; from then on requests are counted here at once.
    expect(asked.mock.calls.length).toBeLessThanOrEqual(1);
    // A missed heartbeat reveals it, seconds before the connection counts as dead.
    expect(redisOf(on.first).connected).toBe(true);
    asked.mockRestore();
    on.redis.resume();
    expect([...statuses].every((status) => status === 200 || status === 429)).toBe(true);
    console.log(`Redis hangs: ${waits.length} requests, the longest ${Math.max(...waits).toFixed(0)} ms`);
    await until('limits are shared again', async () => {
      await on.first.get('/v1/ping', key);
      return storageOf(on.first).redisState === 'up';
    });
  });

  it('briefly at the start: the process waits for it, but not for long', async () => {
    const startPaused = async (milliseconds: number) => {
      on.redis.pause();
      const late = setTimeout(() => {
        on.redis.resume();
      }, milliseconds);
      const api = await TestApi.start({ REDIS_URL: on.redis.url }, on.first.database);
      const state = storageOf(api).redisState;
      clearTimeout(late);
      on.redis.resume();
      await api.close();
      return state;
    };
    expect(await startPaused(500)).toBe('up');
    expect(await startPaused(600_000)).toBe('away');
  });

  it('at the start: the process serves requests and logs it', async () => {
    await on.redis.kill();
    const api = await TestApi.start(
      { REDIS_URL: on.redis.url, RATE_LIMIT_PER_MINUTE: String(LIMIT) },
      on.first.database,
    );
    const { key } = await on.newKey();
    expect((await api.get('/v1/ping', key)).status).toBe(200);
    expect(said(api)).toEqual(['away']);
    await on.redis.restart();
    await api.close();
  });
});
