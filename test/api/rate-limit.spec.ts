import { randomBytes } from 'node:crypto';
import type { MockInstance } from 'vitest';
import { loadEnv } from '@app/config';
import type { Response } from 'supertest';
import { AnswerCheck } from '../support/http/answer-check.js';
import { TestApi } from '../support/http/api.js';
import { RateLimitStorage } from '../../apps/api/src/http/rate-limit/rate-limit.storage.js';
import { ApiKeys } from '@app/accounts';

const LIMIT = 5;

let api: TestApi;
let organizationId: string;

beforeAll(async () => {
  api = await TestApi.start({
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    AUTH_FAILURES_PER_MINUTE: '4',
    TRUST_PROXY: 'true',
  });
  organizationId = (await api.organizations.create({ name: 'Limited', slug: 'limited' })).id;
});

afterAll(() => api.stop());

/** No time passes between the requests of a test. */
const stopTheClock = () => vi.spyOn(performance, 'now').mockReturnValue(performance.now());

beforeEach(() => void stopTheClock());
afterEach(() => vi.restoreAllMocks());

/** Advances the clock that limits use. */
function wait(seconds: number): void {
  const later = performance.now() + seconds * 1_000;
  vi.spyOn(performance, 'now').mockReturnValue(later);
}

async function times(count: number, request: () => Promise<Response>): Promise<Response[]> {
  const answers: Response[] = [];
  for (let time = 0; time < count; time++) answers.push(await request());
  return answers;
}

/** The values in the headers; both header families must agree. */
function told({ headers }: Response): { limit: number; remaining: number; reset: number } {
  const header = headers as Record<string, string>;
  const policy = /^"default";q=(\d+);w=60$/.exec(header['ratelimit-policy'] ?? '');
  const state = /^"default";r=(\d+);t=(\d+)$/.exec(header.ratelimit ?? '');
  const old = ['limit', 'remaining', 'reset'].map((name) => header[`x-ratelimit-${name}`]);
  expect([policy?.[1], state?.[1], state?.[2]]).toEqual(old);
  const [limit, remaining, reset] = old.map(Number) as [number, number, number];
  return { limit, remaining, reset };
}

describe('by default', () => {
  it('a key may send 600 requests a minute, and an address fail 60 times', () => {
    const env = loadEnv({}, {});
    expect([env.get('RATE_LIMIT_PER_MINUTE'), env.get('AUTH_FAILURES_PER_MINUTE')]).toEqual([600, 60]);
  });
});

describe('the requests of a key', () => {
  it('are counted down in the headers, and refused with 429 beyond the limit', async () => {
    const key = await api.key(organizationId);
    const answers = await times(LIMIT + 2, () => api.get('/v1/ping', key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(answers.map((answer) => told(answer).remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    for (const answer of answers) {
      expect(told(answer).limit).toBe(LIMIT);
      expect(told(answer).reset).toBeGreaterThan(50);
      expect(told(answer).reset).toBeLessThanOrEqual(61);
    }
    const refused = answers.at(-1)!;
    const retryAfter = Number(refused.get('Retry-After'));
    expect(retryAfter).toBe(told(refused).reset);
    expect(new AnswerCheck().faults({ status: 429, headers: refused.headers, body: refused.text })).toEqual([]);
    expect(refused.body).toEqual({
      error: {
        code: 'rate_limit_exceeded',
        message: `This API key can send at most 5 requests a minute. Try again in ${retryAfter} s.`,
        status: 429,
        details: { limit: 5, retry_after: retryAfter },
      },
    });
  }); // prettier-ignore

  it('are allowed again once Retry-After has passed', async () => {
    const key = await api.key(organizationId);
    const answers = await times(LIMIT + 1, () => api.get('/v1/ping', key));
    const retryAfter = Number(answers.at(-1)!.get('Retry-After'));
    wait(retryAfter - 2);
    expect((await api.get('/v1/ping', key)).status).toBe(429);
    vi.restoreAllMocks();
    wait(retryAfter);
    const again = await api.get('/v1/ping', key);
    expect(again.status).toBe(200);
  });

  it('that are refused do not extend the wait', async () => {
    const key = await api.key(organizationId);
    const answers = await times(LIMIT + 20, () => api.get('/v1/ping', key));
    const waits = answers.slice(LIMIT).map((answer) => Number(answer.get('Retry-After')));
    expect(waits).toEqual([...waits].sort((a, b) => b - a));
    wait(waits[0]!);
    expect((await api.get('/v1/ping', key)).status).toBe(200);
  });

  it('are limited exactly when they all arrive at once', async () => {
    const key = await api.key(organizationId);
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.get('/v1/ping', key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(60 - LIMIT);
  });

  it('are counted separately for two keys of one organization', async () => {
    const [one, other] = [await api.key(organizationId), await api.key(organizationId)];
    await times(LIMIT + 1, () => api.get('/v1/ping', one));
    const answer = await api.get('/v1/ping', other);
    expect([answer.status, told(answer).remaining]).toEqual([200, LIMIT - 1]);
  });

  it('count every response and appear in its headers', async () => {
    const key = await api.key(organizationId);
    const writer = await api.key(organizationId, { scopes: ['blog:write'] });
    const paths = ['/v1/ping', '/v1/parents/abc', '/v1/ping?x=1', '/v1/reports/summary'];
    const answers = [
      ...(await Promise.all(paths.map((path) => api.get(path, key)))),
      await api.get('/v1/ping', writer),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 422, 200, 403]);
    expect(answers.map((answer) => told(answer).limit)).toEqual([5, 5, 5, 5, 5]);
    expect(told(await api.get('/v1/ping', key)).remaining).toBe(0);
  });

  it('are checked before scopes, validation and the record', async () => {
    const key = await api.key(organizationId, { scopes: ['blog:write'] });
    await times(LIMIT, () => api.get('/v1/ping', key));
    for (const path of ['/v1/ping', '/v1/ping?x=1', '/v1/parents/abc'])
      expect((await api.get(path, key)).status).toBe(429);
  });

  it('to health checks are not counted', async () => {
    const answer = await api.get('/health/live');
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  });
});

describe('failed authentication', () => {
  /** Sends a request that claims to come from this address. */
  const from = (address: string, key?: string) => api.get('/v1/ping', key).set('X-Forwarded-For', address);

  it('returns 429 instead of 401 once an address fails too often, while a valid key from there still works', async () => {
    const unknown = `tk_live_${'0'.repeat(64)}`;
    const answers = await times(6, () => from('203.0.113.1', unknown));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429, 429]);
    const refused = answers.at(-1)!;
    expect(refused.body).toMatchObject({ error: { code: 'rate_limit_exceeded', details: { limit: 4 } } });
    expect((await from('203.0.113.1', await api.key(organizationId))).status).toBe(200);
    expect((await from('203.0.113.2', unknown)).status).toBe(401);
    wait(Number(refused.get('Retry-After')));
    expect((await from('203.0.113.1', unknown)).status).toBe(401);
  });

  it('counts every kind: missing, garbage, unknown, revoked and expired', async () => {
    const { keys } = api;
    const revoked = await keys.create(organizationId, { name: 'revoked' });
    await keys.revoke(revoked.id);
    const expired = await api.key(organizationId, { expiresAt: new Date(0) });
    const address = '203.0.113.3';
    const answers = [
      await from(address),
      await from(address).set('Authorization', 'Basic x'),
      await from(address, revoked.key),
      await from(address, expired),
      await from(address, `tk_live_${'1'.repeat(64)}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429]);
  });

  it('counts a key that is tried at an unknown path, but no request without one', async () => {
    const at = (key?: string) => api.get('/v1/unheard-of', key).set('X-Forwarded-For', '203.0.113.4');
    for (const { status } of await times(10, () => at())) expect(status).toBe(404);
    expect((await from('203.0.113.4')).status).toBe(401);
    for (const { status } of await times(3, () => at(`tk_live_${'2'.repeat(64)}`))) expect(status).toBe(404);
    expect((await from('203.0.113.4')).status).toBe(429);
  });

  it('counts the /64 of an IPv6 subscriber as one address', async () => {
    const answers = await times(4, () => from('2001:db8:1:2::1'));
    expect(answers.at(-1)!.status).toBe(401);
    expect((await from('2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await from('2001:db8:1:3::1')).status).toBe(401);
  });

  it.each([
    'not an address',
    '999.1.1.1',
    '::ffff:203.0.113.9',
    '[::1]:80',
    '203.0.113.1:8080',
    ',',
    '\u00ff',
    '__proto__',
  ])('from "%s" is an ordinary failure', async (address) => {
    expect((await from(address)).status).toBe(401);
  });
});

describe('a database lookup', () => {
  let find: MockInstance<ApiKeys['find']>;
  beforeEach(() => {
    find = vi.spyOn(api.app.get(ApiKeys), 'find');
  });
  const from = (address: string, key?: string) => api.get('/v1/ping', key).set('X-Forwarded-For', address);
  const unknown = () => `tk_live_${randomBytes(32).toString('hex')}`;

  it('is made for each request of a key within its limit, so validity is never cached', async () => {
    const { id, key } = await api.keys.create(organizationId, { name: 'used' });
    await times(3, () => api.get('/v1/ping', key));
    expect(find).toHaveBeenCalledTimes(3);
    await api.keys.revoke(id);
    expect((await api.get('/v1/ping', key)).status).toBe(401);
  });

  it('is made ten times a second for a key over its limit, with identical answers in between', async () => {
    const key = await api.key(organizationId);
    await times(LIMIT, () => api.get('/v1/ping', key));
    find.mockClear();
    const clock = stopTheClock();
    const refused = await times(40, () => api.get('/v1/ping', key));
    expect(find).toHaveBeenCalledTimes(10);
    const answers = refused.map(({ status, headers, text }) => {
      const { date: _, 'x-request-id': __, ...rest } = headers as Record<string, string>;
      return JSON.stringify([status, Object.entries(rest).sort(), text]);
    });
    expect([refused[39]!.status, new Set(answers).size]).toEqual([429, 1]);
    expect(told(refused[39]!).remaining).toBe(0);
    clock.mockReturnValue(performance.now() + 500);
    await times(40, () => api.get('/v1/ping', key));
    expect(find).toHaveBeenCalledTimes(10 + 5);
  });

  it('returns 401 within a tenth of a second after a key over its limit is revoked', async () => {
    const { id, key } = await api.keys.create(organizationId, { name: 'loud' });
    const clock = stopTheClock();
    await times(LIMIT + 20, () => api.get('/v1/ping', key));
    await api.keys.revoke(id);
    expect((await from('203.0.113.20', key)).status).toBe(429);
    clock.mockReturnValue(performance.now() + 100);
    // From now on the key counts as a failed one.
    const answers = await times(4, () => from('203.0.113.20', key));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await from('203.0.113.20', key)).status).toBe(429);
  });

  it('is limited for an address that failed too often to ten at once and one a second for all new keys', async () => {
    await times(4, () => from('203.0.113.21', unknown()));
    find.mockClear();
    const clock = stopTheClock();
    const answers = await times(40, () => from('203.0.113.21', unknown()));
    expect(answers.every(({ status }) => status === 429)).toBe(true);
    expect(find).toHaveBeenCalledTimes(10);
    clock.mockReturnValue(performance.now() + 2_000);
    await times(40, () => from('203.0.113.21', unknown()));
    expect(find).toHaveBeenCalledTimes(12);
    expect((await from('203.0.113.22', await api.key(organizationId))).status).toBe(200);
  });

  it('is limited for the /64 of an IPv6 subscriber', async () => {
    stopTheClock();
    let host = 1;
    await times(60, () => from(`2001:db8:7:7::${(host++).toString(16)}`, unknown()));
    expect(find).toHaveBeenCalledTimes(4 + 10);
  });

  it('serves a recently used key at once during a flood from its address', async () => {
    const key = await api.key(organizationId);
    await from('203.0.113.23', key);
    stopTheClock();
    await times(40, () => from('203.0.113.23', unknown()));
    expect((await from('203.0.113.23', key)).status).toBe(200);
  });

  it('is not used up by a repeated wrong key, so a new valid key from the same address works at once', async () => {
    const wrong = unknown();
    stopTheClock();
    await times(60, () => from('203.0.113.24', wrong));
    expect(find).toHaveBeenCalledTimes(4);
    expect((await from('203.0.113.24', await api.key(organizationId))).status).toBe(200);
  });

  it('is not made for a malformed key', async () => {
    await times(3, () => from('203.0.113.25', 'garbage'));
    expect(find).not.toHaveBeenCalled();
  });
});

describe('without Redis', () => {
  it('readiness reports it as off, and the log has no complaint', async () => {
    expect((await api.get('/health/ready')).body).toMatchObject({ checks: { redis: 'off' } });
    expect(api.app.get(RateLimitStorage).redisState).toBe('off');
    expect(api.logged.filter((line) => line.includes('Redis'))).toEqual([]);
  });
});
