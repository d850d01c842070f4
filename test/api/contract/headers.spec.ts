import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { TestApi } from '../../support/http/api.js';
import { type Answer, call, keyedReads, keyedRoutes, nameOf, send } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
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

  it('is on every answer', async () => {
    const ids = new Set<string>();
    for (const route of keyedRoutes(api)) {
      for (const key of [fixtures.a.key, null, 'garbage']) {
        const id = (await call(api, route, fixtures.a, { key })).headers['x-request-id']!;
        expect(id).toMatch(UUID_V4);
        ids.add(id);
      }
    }
    expect(ids.size).toBe(keyedRoutes(api).length * 3);
  });
});

describe('the rate limit', () => {
  const NAMES = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'];
  const limitsOf = ({ headers }: Answer) => NAMES.map((name) => headers[name]);

  it('is sent with every response to a key', async () => {
    const limited = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '600' }, api.database);
    for (const route of keyedRoutes(limited)) {
      const key = await limited.key(fixtures.a.id, { scopes: ['read'] });
      const other = await limited.key(fixtures.a.id, { scopes: ['students:write'] });
      const answers = [
        await call(limited, route, fixtures.a, { key }),
        await call(limited, route, fixtures.b, { key }),
        await call(limited, route, fixtures.a, { key, query: '?unheard_of=1' }),
      ];
      for (const [index, answer] of [...answers, await call(limited, route, fixtures.a, { key: other })].entries()) {
        const [limit, remaining, reset, draft, policy] = limitsOf(answer);
        const left = index === 3 ? 599 : 599 - index;
        expect([nameOf(route), index, limit, remaining]).toEqual([nameOf(route), index, '600', String(left)]);
        expect(Number(reset)).toBeGreaterThan(0);
        expect(Number(reset)).toBeLessThanOrEqual(61);
        expect(draft).toBe(`"default";r=${left};t=${reset}`);
        expect(policy).toBe('"default";q=600;w=60');
        const suffixed = Object.keys(answer.headers).filter((name) => name.includes('ratelimit') && !NAMES.includes(name));
        expect(suffixed).toEqual([]);
      }
    }
    await limited.close();
  });

  it('is not sent without a key or where no limit applies', async () => {
    const none = NAMES.map(() => undefined);
    expect(limitsOf(await send(api, 'GET', '/health/live'))).toEqual(none);
    expect(limitsOf(await send(api, 'GET', '/v1/ping'))).toEqual(none);
  });
});

describe('every answer to a key', () => {
  it('is not cacheable', async () => {
    for (const route of keyedRoutes(api)) {
      const answers = [
        await call(api, route, fixtures.a),
        await call(api, route, fixtures.b, { key: fixtures.a.key }),
        await call(api, route, fixtures.a, { query: '?unheard_of=1' }),
        await call(api, route, fixtures.a, { key: null }),
      ];
      const kept = answers.map(({ headers }) => headers['cache-control']);
      expect([nameOf(route), ...kept]).toEqual([nameOf(route), ...answers.map(() => 'no-store')]);
      const versioned = answers.filter(({ headers }) => headers.etag ?? headers['last-modified']);
      if (!operationOf(route.handler)?.versioned) expect(versioned).toEqual([]);
    }
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
