import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const LIMIT = 5;
const FAILURES = 4;
const limits = { RATE_LIMIT_PER_MINUTE: String(LIMIT), AUTH_FAILURES_PER_MINUTE: String(FAILURES) };
const api = await fixture(TestApi.start({ ...limits, TRUST_PROXY: 'true' }));
const { id: organizationId } = await api.organizations.create({ name: 'Limited', slug: 'limited' });

/** Sets the clock that limits use to this many seconds from now. No time passes between the requests of a test. */
function wait(seconds: number): void {
  const later = performance.now() + seconds * 1_000;
  vi.spyOn(performance, 'now').mockReturnValue(later);
}

beforeEach(() => {
  wait(0);
});
afterEach(() => vi.restoreAllMocks());

async function times(count: number, request: () => Promise<Response>): Promise<Response[]> {
  const answers: Response[] = [];
  for (let time = 0; time < count; time++) answers.push(await request());
  return answers;
}

const statuses = (answers: Response[]) => answers.map(({ status }) => status);

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

describe('the requests of a key', () => {
  it('are counted down in the headers, and refused with 429 beyond the limit', async () => {
    const key = await api.key(organizationId);
    const first = await api.get('/v1/ping', key);
    wait(10);
    const answers = [first, ...(await times(LIMIT + 1, () => api.get('/v1/ping', key)))];
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(answers.map((answer) => told(answer).remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    expect(answers.map((answer) => told(answer).reset)).toEqual([60, 50, 50, 50, 50, 50, 50]);
    const refused = answers.at(-1)!;
    expect(refused.get('Retry-After')).toBe('50');
    expect(new AnswerCheck().faults({ status: 429, headers: refused.headers, body: refused.text })).toEqual([]);
    expect(refused.body).toEqual({
      error: {
        code: 'rate_limit_exceeded',
        message: 'This API key can send at most 5 requests a minute. Try again in 50 s.',
        status: 429,
        details: { limit: 5, retry_after: 50 },
      },
    });
    // Refused requests did not extend the wait.
    wait(49.9);
    expect(told(await api.get('/v1/ping', key))).toEqual({ limit: 5, remaining: 0, reset: 1 });
    wait(0.1);
    expect(statuses(await times(2, () => api.get('/v1/ping', key)))).toEqual([200, 429]);
  });

  it('are limited exactly when they all arrive at once, and separately for each key', async () => {
    const [key, other] = [await api.key(organizationId), await api.key(organizationId)];
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.get('/v1/ping', key)));
    expect(statuses(answers).filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(told(await api.get('/v1/ping', other)).remaining).toBe(LIMIT - 1);
  });

  it('count whatever the response is, and nothing without a key does', async () => {
    const key = await api.key(organizationId);
    const paths = ['/v1/ping', '/v1/parents/abc', '/v1/ping?x=1', '/v1/nowhere'];
    const answers = await Promise.all(paths.map((path) => api.get(path, key)));
    expect(statuses(answers)).toEqual([200, 404, 422, 404]);
    expect(told(await api.get('/v1/ping', key)).remaining).toBe(0);
    for (const path of [...paths, '/v1/parents/%ff']) expect((await api.get(path, key)).status).toBe(429);
    for (const path of ['/health/live', '/metrics', '/docs', '/']) {
      const answer = await api.get(path, key);
      expect([path, answer.status, answer.get('X-RateLimit-Limit')]).toEqual([path, 200, undefined]);
    }
  });
});

describe('failed authentication', () => {
  /** Sends a request that claims to come from this address. */
  const from = (address: string, key?: string, path = '/v1/ping') => api.get(path, key).set('X-Forwarded-For', address);
  const unknown = () => `tk_live_${randomBytes(32).toString('hex')}`;

  it('gets 429 instead of 401 once an address fails too often', async () => {
    const answers = await times(FAILURES + 2, () => from('203.0.113.1', unknown()));
    expect(statuses(answers)).toEqual([401, 401, 401, 401, 429, 429]);
    const refused = answers.at(-1)!;
    const error = { code: 'rate_limit_exceeded', status: 429, details: { limit: FAILURES, retry_after: 60 } };
    expect([refused.get('Retry-After'), refused.body]).toMatchObject(['60', { error }]);
    expect(refused.get('X-RateLimit-Limit')).toBeUndefined();
    expect((await from('203.0.113.2', unknown())).status).toBe(401);
    wait(60);
    expect((await from('203.0.113.1', unknown())).status).toBe(401);
  });

  it('never affects a valid key from the same address, known or new, nor a path that needs none', async () => {
    const known = await api.key(organizationId);
    await from('203.0.113.3', known);
    const answers = await Promise.all(Array.from({ length: 300 }, () => from('203.0.113.3', unknown())));
    expect(statuses(answers).filter((status) => status === 401)).toHaveLength(FAILURES);
    for (const key of [known, await api.key(organizationId)]) expect((await from('203.0.113.3', key)).status).toBe(200);
    for (const key of [undefined, unknown()]) {
      expect((await from('203.0.113.3', key, '/health/live')).status).toBe(200);
      expect((await from('203.0.113.3', key, '/v1/unheard-of')).status).toBe(404);
    }
  });

  it('counts every kind: missing, garbage, unknown, revoked, expired, and a key at an unknown path', async () => {
    const revoked = await api.keys.create(organizationId, { name: 'revoked' });
    await api.keys.revokeOf(organizationId, revoked.id);
    const expired = await api.key(organizationId, { expiresAt: new Date(0) });
    const kinds: ((address: string) => Promise<Response>)[] = [
      (address) => from(address),
      (address) => from(address).set('Authorization', 'Basic x'),
      (address) => from(address, unknown()),
      (address) => from(address, revoked.key),
      (address) => from(address, expired),
      (address) => from(address, unknown(), '/v1/unheard-of'),
    ];
    for (const [index, kind] of kinds.entries()) {
      await times(FAILURES, () => kind(`192.0.2.${index}`));
      expect([index, (await from(`192.0.2.${index}`)).status]).toEqual([index, 429]);
    }
    await times(FAILURES, () => from('192.0.2.99', undefined, '/v1/unheard-of'));
    expect((await from('192.0.2.99')).status).toBe(401);
  });

  it.each([
    ['the last one in X-Forwarded-For, because clients choose the others', '192.0.2.1, 203.0.113.5', '203.0.113.5', '203.0.113.5, 203.0.113.8'],
    ['the /56 of an IPv6 subscriber', '2001:db8:1:200::1', '2001:db8:1:2ff:ffff::9', '2001:db8:1:300::1'],
    ['an IPv4 address, also if it is mapped to IPv6', '::ffff:203.0.113.6', '203.0.113.6', '::ffff:203.0.113.7'],
  ])('counts as one address %s', async (_, address, same, other) => {
    await times(FAILURES, () => from(address));
    expect(statuses([await from(same), await from(other)])).toEqual([429, 401]);
  }); // prettier-ignore

  it.each(['not an address', '999.1.1.1', '[::1]:80', '203.0.113.1:8080', ',', '\u00ff', '__proto__'])(
    'from "%s" is an ordinary failure',
    async (address) => {
      expect((await from(address)).status).toBe(401);
    },
  );
});
