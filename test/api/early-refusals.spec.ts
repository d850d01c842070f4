import { randomBytes } from 'node:crypto';
import { type AddressInfo } from 'node:net';
import { ApiKeys, type Scope, SCOPES } from '@app/accounts';
import { Database } from '@app/database';
import { ApiKeyGuard } from '../../apps/api/src/http/auth/api-key.guard.js';
import { AnswerCheck } from '../support/http/answer-check.js';
import { TestApi } from '../support/http/api.js';
import { bytesOf, exchange, type RawAnswer } from '../support/http/raw-http.js';
import { keyedRoutes, nameOf, type Route } from '../support/http/routes.js';
import { createWorld, pathOf } from '../support/data/world.js';
import { fixture } from '../support/process/fixture.js';

/** Keys and addresses known to be over their limits are refused before Express sees the request. */
const LIMIT = 3;
const FAILURES = 2;
/** Lookups that a key or an address over its limit may make at once. */
const BURST = 10;
const check = new AnswerCheck();

const limits = { RATE_LIMIT_PER_MINUTE: String(LIMIT), AUTH_FAILURES_PER_MINUTE: String(FAILURES) };
const api = await fixture(TestApi.start({ ...limits, TRUST_PROXY: 'true' }));
const world = await createWorld(api);

afterEach(() => vi.restoreAllMocks());

interface Wanted {
  method?: string;
  key?: string;
  address?: string;
  headers?: [string, string][];
}

function ask(path: string, { method, key, address = '198.51.100.1', headers = [] }: Wanted = {}): Promise<RawAnswer> {
  const { port } = api.server.address() as AddressInfo;
  const all: [string, string][] = [['X-Forwarded-For', address], ...headers];
  if (key) all.push(['Authorization', `Token token=${key}`]);
  return exchange(port, bytesOf(path, { method, headers: all }));
}

const unknown = () => `tk_live_${randomBytes(32).toString('hex')}`;

/** Stops the clock, so that no lookup is allowed after the burst. @returns what must not be called meanwhile */
function spies() {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  return { lookUp: vi.spyOn(Database.prototype, 'lookUp'), guard: vi.spyOn(api.app.get(ApiKeyGuard), 'canActivate') };
}

/** A key that has used up its limit and its lookups. */
async function spentKey(): Promise<{ id: string; key: string; spied: ReturnType<typeof spies> }> {
  const made = await api.keys.create(world.a.id, { name: 'spent', scopes: Object.keys(SCOPES) as Scope[] });
  const spied = spies();
  for (let n = 0; n < LIMIT + BURST; n++) await ask('/v1/ping', { key: made.key });
  for (const spy of Object.values(spied)) spy.mockClear();
  return { ...made, spied };
}

/** An address that has used up its failures and lookups. */
async function failedAddress(address: string): Promise<ReturnType<typeof spies>> {
  const spied = spies();
  for (let n = 0; n < FAILURES + BURST; n++) await ask('/v1/ping', { key: unknown(), address });
  for (const spy of Object.values(spied)) spy.mockClear();
  return spied;
}

/** The log lines of a request. */
async function linesOf(id: string): Promise<Record<string, unknown>[]> {
  const lines = () => api.logged.filter((line) => line.includes(`"${id}"`));
  await vi.waitFor(() => expect(lines()).not.toEqual([]));
  return lines().map((line) => JSON.parse(line) as Record<string, unknown>);
}

const faultsOf = (route: Route, answer: RawAnswer) => {
  const faults = check.faults(answer);
  return answer.status === 429 && faults.length === 0 ? [] : [`${nameOf(route)}: ${answer.status} ${faults.join()}`];
};

describe('a key over its limit', () => {
  it('is refused on every route without Express or the database, with one log line that names the key and its organization', async () => {
    const { id, key, spied } = await spentKey();
    const wrong: string[] = [];
    for (const route of keyedRoutes(api)) {
      const answer = await ask(pathOf(route, world.a), { method: route.method, key });
      wrong.push(...faultsOf(route, answer));
      expect(answer.headers['retry-after']).toBe(answer.headers['x-ratelimit-reset']);
      const lines = await linesOf(answer.headers['x-request-id']!);
      const told = lines.map(({ route, status, key_id, organization_id }) => [route, status, key_id, organization_id]);
      expect(told).toEqual([[route.path, 429, id, world.a.id]]);
    }
    expect(wrong).toEqual([]);
    for (const spy of Object.values(spied)) expect(spy).not.toHaveBeenCalled();
  });

  it('gets the same response and headers as one that Express refuses', async () => {
    const { key } = await api.keys.create(world.a.id, { name: 'spent' });
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const answers: RawAnswer[] = [];
    for (let n = 0; n < LIMIT + BURST + 1; n++) answers.push(await ask('/v1/homework', { key }));
    const plain = ({ status, headers, body }: RawAnswer) => {
      const { date: _, 'x-request-id': id, ...rest } = headers;
      expect(id).toBeDefined();
      return [status, rest, body];
    };
    const looked = answers[LIMIT]!;
    const early = answers.at(-1)!;
    expect([looked.status, early.status]).toEqual([429, 429]);
    expect(plain(early)).toEqual(plain(looked));
  });

  it('is refused with the CORS headers that a page of another origin needs', async () => {
    const { key, spied } = await spentKey();
    const headers: [string, string][] = [['Origin', 'https://school.example']];
    const answer = await ask('/v1/homework', { key, headers });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([429, '*']);
    expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
    expect(await linesOf(answer.headers['x-request-id']!)).toHaveLength(1);
    const preflight: [string, string][] = [...headers, ['Access-Control-Request-Method', 'GET']];
    expect((await ask('/v1/homework', { method: 'OPTIONS', key, headers: preflight })).status).toBe(204);
    for (const spy of Object.values(spied)) expect(spy).not.toHaveBeenCalled();
  });

  it('is refused on unknown routes, and let through where no key is needed', async () => {
    const { key, spied } = await spentKey();
    const unheard: [string, string][] = [
      ['GET', '/v1/unheard-of'],
      ['DELETE', '/v1/ping'],
      ['GET', '/v1/parents/%ff'],
      ['POST', '/health/live'],
    ];
    for (const [method, path] of unheard) expect((await ask(path, { method, key })).status).toBe(429);
    for (const path of ['/health/live', '/metrics', '/docs', '/openapi.json', '/']) {
      const answer = await ask(path, { key });
      expect([path, answer.status, answer.headers['x-ratelimit-limit']]).toEqual([path, 200, undefined]);
    }
    const find = vi.spyOn(api.app.get(ApiKeys), 'find');
    expect((await ask('/v1/ping?', { key, method: 'HEAD' })).status).toBe(429);
    expect(find).not.toHaveBeenCalled();
    expect(spied.guard).toHaveBeenCalled();
  });

  it('is counted in the metrics', async () => {
    const { key } = await spentKey();
    const count = async () => {
      const { body } = await ask('/metrics');
      const of = (pattern: RegExp) => Number(pattern.exec(body)?.[1] ?? 0);
      return [
        of(/^http_request_duration_seconds_count\{method="GET",route="\/v1\/homework",status="429"\} (\d+)/m),
        of(/^api_key_authentications_total\{outcome="rate_limit_exceeded"\} (\d+)/m),
      ] as const;
    };
    const before = await count();
    for (let n = 0; n < 5; n++) await ask('/v1/homework', { key });
    expect(await count()).toEqual(before.map((number) => number + 5));
  });
});

describe('an address that failed too often', () => {
  it('is refused on every route without Express or the database for a missing or invalid key', async () => {
    const address = '203.0.113.1';
    const spied = await failedAddress(address);
    const wrong: string[] = [];
    for (const route of keyedRoutes(api)) {
      for (const key of [undefined, 'garbage', unknown()]) {
        wrong.push(...faultsOf(route, await ask(pathOf(route, world.a), { method: route.method, key, address })));
      }
    }
    expect(wrong).toEqual([]);
    for (const spy of Object.values(spied)) expect(spy).not.toHaveBeenCalled();
  });

  it('does not affect valid keys, public routes or unknown ones', async () => {
    const address = '203.0.113.2';
    const key = await api.key(world.a.id);
    expect((await ask('/v1/ping', { key, address })).status).toBe(200);
    await failedAddress(address);
    expect((await ask('/v1/ping', { key, address })).status).toBe(200);
    const asked: [string, string, number][] = [
      ['GET', '/health/live', 200],
      ['GET', '/docs', 200],
      ['GET', '/v1/unheard-of', 404],
      ['DELETE', '/v1/ping', 405],
      ['GET', '/v1/parents/%ff', 404],
    ];
    for (const [method, path, status] of asked) {
      for (const wrong of [undefined, unknown()]) {
        expect([path, (await ask(path, { method, key: wrong, address })).status]).toEqual([path, status]);
      }
    }
  });

  it('is the last one in X-Forwarded-For, because clients choose the others', async () => {
    await failedAddress('203.0.113.3');
    expect((await ask('/v1/ping', { address: '192.0.2.1, 203.0.113.3' })).status).toBe(429);
    expect((await ask('/v1/ping', { address: '203.0.113.3, 192.0.2.1' })).status).toBe(401);
  });
});
