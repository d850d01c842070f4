import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { TestApi } from '../../support/http/api.js';
import { type Answer, call, keyedReads, keyedRoutes, nameOf, send } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';

const api = await TestApi.shared();
const fixtures = await createFixtures(api);

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const withKey = (key = fixtures.a.key, more: Record<string, string> = {}) => ({ Authorization: `Token token=${key}`, ...more });

describe('X-Request-Id', () => {
  it.each(['a', 'A.b_c-9', '0'.repeat(128), '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'])('is taken from the client: %s', async (id) => {
    for (const path of ['/v1/ping', '/v1/nowhere', '/health/live']) {
      for (const headers of [withKey(), {}]) {
        const answer = await send(api, 'GET', path, { ...headers, 'X-Request-Id': id });
        expect([path, answer.headers['x-request-id']]).toEqual([path, id]);
      }
    }
  });

  it.each(['', '0'.repeat(129), 'a b', 'a,b', 'ü', '<script>', 'a/b', '"a"', "a';--"])('is replaced when invalid: %s', async (id) => {
    const headers = withKey(undefined, { 'X-Request-Id': Buffer.from(id).toString('latin1') });
    const answers = [await send(api, 'GET', '/v1/ping', headers), await send(api, 'GET', '/v1/ping', headers)];
    for (const answer of answers) expect(answer.headers['x-request-id']).toMatch(UUID_V4);
    expect(answers[0]!.headers['x-request-id']).not.toBe(answers[1]!.headers['x-request-id']);
  });
});

const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'];
const limitsOf = ({ headers }: Answer) => NAMES.map((name) => headers[name]);

describe('the rate limit', () => {
  it('is not sent without a key or where no limit applies', async () => {
    const none = NAMES.map(() => undefined);
    expect(limitsOf(await send(api, 'GET', '/health/live'))).toEqual(none);
    expect(limitsOf(await send(api, 'GET', '/v1/ping'))).toEqual(none);
  });
});

describe('every answer', () => {
  it('has a request id, is not cacheable, and tells a key its rate limit', async () => {
    const limited = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '600' }, api.database);
    const other = await limited.key(fixtures.a.id, { scopes: ['students:write'] });
    const ids = new Set<string>();
    for (const route of keyedRoutes(limited)) {
      const key = await limited.key(fixtures.a.id, { scopes: ['read'] });
      const answers = [
        await call(limited, route, fixtures.a, { key }),
        await call(limited, route, fixtures.b, { key }),
        await call(limited, route, fixtures.a, { key, query: '?unheard_of=1' }),
        await call(limited, route, fixtures.a, { key: other }),
        await call(limited, route, fixtures.a, { key: null }),
        await call(limited, route, fixtures.a, { key: 'garbage' }),
      ];
      for (const [index, { headers }] of answers.entries()) {
        const name = [nameOf(route), index];
        expect([...name, headers['x-request-id']]).toEqual([...name, expect.stringMatching(UUID_V4)]);
        ids.add(headers['x-request-id']!);
        expect([...name, headers['cache-control']]).toEqual([...name, 'no-store']);
        if (!operationOf(route.handler)?.versioned) expect([...name, headers.etag ?? headers['last-modified']]).toEqual([...name, undefined]);
      }
      for (const [index, answer] of answers.slice(0, 4).entries()) {
        const [limit, remaining, reset, draft, policy] = limitsOf(answer);
        const left = index === 3 ? remaining : String(599 - index);
        expect([nameOf(route), index, limit, remaining]).toEqual([nameOf(route), index, '600', left]);
        expect(Number(reset)).toBeGreaterThan(0);
        expect(Number(reset)).toBeLessThanOrEqual(61);
        expect(draft).toBe(`"default";r=${left};t=${reset}`);
        expect(policy).toBe('"default";q=600;w=60');
        const suffixed = Object.keys(answer.headers).filter((name) => name.includes('ratelimit') && !NAMES.includes(name));
        expect(suffixed).toEqual([]);
      }
    }
    expect(ids.size).toBe(keyedRoutes(limited).length * 6);
    await limited.close();
  });

  it('is JSON with nosniff, from a server that does not name itself', async () => {
    for (const route of keyedReads(api)) {
      const { headers } = await call(api, route, fixtures.a);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
      });
      expect([headers['x-powered-by'], headers.server]).toEqual([undefined, undefined]);
    }
  });
});

describe('a browser on another origin', () => {
  const Origin = 'https://school.example';

  it('may read every answer and the relevant headers', async () => {
    for (const headers of [withKey(undefined, { Origin }), { Origin }]) {
      const answer = await send(api, 'GET', '/v1/ping', headers);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      const exposed = answer.headers['access-control-expose-headers']!.toLowerCase().split(',');
      const wanted = [
        'x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit',
        'ratelimit-policy', 'retry-after', 'www-authenticate', 'allow', 'etag',
      ]; // prettier-ignore
      expect(wanted.filter((name) => !exposed.map((part) => part.trim()).includes(name))).toEqual([]);
    }
  });

  it('is told by the preflight that it may send the key', async () => {
    const headers = { Origin, 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };
    for (const route of keyedReads(api)) {
      const answer = await send(api, 'OPTIONS', route.path.replaceAll(/:[^/]+/g, fixtures.a.id), headers);
      expect([nameOf(route), answer.status, answer.text]).toEqual([nameOf(route), 204, '']);
      expect(answer.headers['access-control-allow-headers']).toContain('authorization');
      expect(answer.headers['access-control-allow-methods']).toContain('GET');
    }
  });

  it('must be configured if CORS_ORIGINS is set', async () => {
    const strict = await TestApi.start({ CORS_ORIGINS: Origin }, api.database);
    const allowed = async (origin: string) =>
      (await send(strict, 'GET', '/v1/ping', withKey(undefined, { Origin: origin }))).headers['access-control-allow-origin'];
    expect([await allowed(Origin), await allowed('https://evil.example')]).toEqual([Origin, undefined]);
    await strict.close();
  });
});
