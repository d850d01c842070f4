import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import type { NewApiKey } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { waitsFor } from '../../support/database/lock-waits.js';
import { bytesOf, exchange } from '../../support/http/raw-http.js';
import { TestRedis } from '../../support/worker/redis.js';
import { keyedReads, type Route, send, validPath } from '../../support/http/routes.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** Marks data about people in the database, and data that clients send by mistake. Neither may appear elsewhere. */
const STORED = 'StoredCanary';
const SENT = 'SentCanary';
const CANARY = /(?:stored|sent)canary/i;
const RAW_KEY = /_live_[0-9a-f]{64}/;

type Line = Record<string, unknown> & { msg: string; request_id?: string; status?: number };

const redis = await fixture(TestRedis.start());
const inside = redis.client();
afterAll(() => inside.disconnect());
const api = await fixture(TestApi.start({ REDIS_URL: redis.url, LOG_LEVEL: 'trace' }));
const fixtures = await createFixtures(api);
await plantCanaries();
const made = (wish: Partial<NewApiKey>) => api.keys.create(fixtures.a.id, { name: `${STORED} key`, ...wish });
const key = await made({ scopes: ['read', 'webhooks:write'] });
const keys = { revoked: await made({}), expired: await made({ expiresAt: new Date(0) }), writer: await made({ scopes: ['blog:write'] }) };
await api.keys.revokeOf(fixtures.a.id, keys.revoked.id);
/** The text of every key. */
const keyTexts = [key, ...Object.values(keys), fixtures.a, fixtures.b].map((one) => one.key);

/** Writes canaries into every column that holds a person's words, name or address. */
async function plantCanaries(): Promise<void> {
  const columns: Record<string, string[]> = {
    users: ['first_name', 'last_name', 'phone'],
    members: ['supplied_first_name', 'supplied_last_name', 'supplied_email', 'supplied_phone'],
    parents: ['supplied_first_name', 'supplied_last_name', 'supplied_email', 'supplied_phone'],
    messages: ['content'],
    session_feedback: ['comment'],
    adjustments: ['note'],
    homework: ['title', 'description'],
    conversations: ['title'],
    sessions: ['title'],
    tutor_profiles: ['bio', 'home_suburb'],
    student_groups: ['name'],
    organizations: ['name'],
    blog_posts: ['title', 'content', 'author'],
  };
  for (const [table, names] of Object.entries(columns)) {
    await fixtures.make.query(`UPDATE ${table} SET ${names.map((name) => `${name} = '${STORED} ${name}'`).join(', ')}`);
  }
  await fixtures.make.query(`UPDATE users SET email = '${STORED}-' || id || '@example.org',
    email_normalized = lower('${STORED}-' || id || '@example.org')`);
  fixtures.a.query.email = `${STORED}-${fixtures.a.path.student_id}@example.org`;
}

function lines(): Line[] {
  return api.logged.map((line) => JSON.parse(line) as Line);
}

type Expected = { id: string; route: string; status: number; keyId?: string };

/** Sends a request with its own id. @returns what its log line must say */
async function ask(path: string, status: number, route: string, more: { method?: string; by?: { id: string; key: string }; headers?: Record<string, string> } = {}): Promise<Expected> {
  const { method = 'GET', by = key, headers = {} } = more;
  const id = `request-${expected.length + 1}`;
  const authorization = { Authorization: `Token token=${by.key}` };
  const answer = await send(api, method, path, { 'X-Request-Id': id, ...authorization, ...headers });
  expect([answer.status, answer.headers['x-request-id']], `${method} ${path} ${answer.text}`).toEqual([status, id]);
  if (status >= 400) expect(answer.text).not.toContain(STORED);
  const authenticated = status !== 401;
  const told = { id, route, status, ...(authenticated ? { keyId: by.id } : {}) };
  expected.push(told);
  return told;
} // prettier-ignore

const expected: Expected[] = [];
const unknown = { id: '', key: `tk_live_${'0'.repeat(64)}` };
const word = encodeURIComponent(`${SENT} mia@example.org\r\n{"level":"info","msg":"request","request_id":"forged"}`);

async function walk(route: Route): Promise<void> {
  const path = validPath(route, fixtures.a);
  const bare = pathOf(route, fixtures.a);
  await ask(path, 200, route.path);
  await ask(path, 200, route.path, { method: 'HEAD' });
  const personal = { 'User-Agent': SENT, Referer: `https://x.example/?${SENT}`, Cookie: `a=${SENT}`, Origin: `https://${SENT}.example` };
  await ask(path, 200, route.path, { headers: personal });
  await ask(`${bare}?limit=${word}&${word}=${word}&student_id=${SENT}@example.org`, 422, route.path);
  await ask(path, 403, route.path, { by: keys.writer });
  for (const by of [keys.revoked, keys.expired, unknown]) await ask(path, 401, route.path, { by });
  await ask(path, 401, route.path, { headers: { Authorization: `Bearer ${SENT}` } });
  await ask(path, 405, 'none', { method: 'PROPFIND' });
  await ask(`${bare}/a/b/${word}`, 404, 'none');
  if (!route.path.includes(':')) return;
  await ask(validPath(route, fixtures.b), 404, route.path);
  await ask(path.replace(bare, route.path.replaceAll(/:[^/]+/g, word)), 404, route.path);
} // prettier-ignore

describe('requests of every kind', () => {
  it('are answered with the expected status', async () => {
    for (const route of keyedReads(api)) await walk(route);
    expect(expected.length).toBeGreaterThan(100);
    // Node refuses these before the application sees them.
    const { port } = api.server.address() as { port: number };
    for (const bytes of [`GET /${SENT} HTTP/1.1\r\nX-A : ${SENT}\r\n\r\n`, bytesOf(`/v1/ping?${SENT.repeat(2_000)}`)]) {
      expect((await exchange(port, bytes)).status).toBeGreaterThanOrEqual(400);
    }
    for (const path of [`/${word}`, '/docs', '/openapi.json', '/health/ready', `/metrics?${word}`]) await send(api, 'GET', path);
    await send(api, 'GET', `//${SENT}`, { Host: SENT, Expect: SENT });
  });

  it('log one line each, with request id, key id, route template and status but no URL', () => {
    const said = lines().filter(({ msg }) => msg === 'request');
    for (const { id, route, status, keyId } of expected) {
      const own = said.filter((line) => line.request_id === id);
      expect(own, id).toHaveLength(1);
      expect(own[0]).toMatchObject({ route, status, level: 'info', ms: expect.any(Number) as number });
      expect(own[0]!.key_id).toBe(keyId);
      expect(own[0]!.organization_id).toBe(keyId && fixtures.a.id);
    }
    // Neither probes nor scrapes.
    expect(said.filter(({ route }) => /health|metrics/.test(String(route)))).toEqual([]);
    const fields = new Set(said.flatMap((line) => Object.keys(line)));
    const allowed = ['level', 'time', 'msg', 'request_id', 'key_id', 'organization_id', 'method', 'route', 'status', 'ms', 'fault'];
    expect([...fields].filter((field) => !allowed.includes(field))).toEqual([]);
  }); // prettier-ignore

  it('log one line each when the connection ends while pipelined requests wait', async () => {
    const { port } = api.server.address() as { port: number };
    const one = (id: string, path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Token token=${key.key}\r\nX-Request-Id: ${id}\r\n\r\n`;
    const lock = fixtures.make.db.createQueryRunner();
    await lock.startTransaction();
    await lock.query('LOCK TABLE homework IN ACCESS EXCLUSIVE MODE');
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(one('cut-1', '/v1/homework') + one('cut-2', '/v1/ping') + one('cut-3', '/v1/ping'));
    });
    await vi.waitFor(async () => expect(await fixtures.make.query(waitsFor('homework'))).toHaveLength(1));
    socket.destroy();
    const told = () => lines().flatMap(({ request_id, status }) => (request_id?.startsWith('cut-') ? [`${request_id} ${status}`] : []));
    await vi.waitFor(() => expect(told()).toContain('cut-1 499'));
    await lock.rollbackTransaction();
    await lock.release();
    await vi.waitFor(() => expect(told().sort()).toEqual(['cut-1 499', 'cut-2 499', 'cut-3 499']));
  });

  it('that Node refuses are logged with the request id of their response', async () => {
    const { port } = api.server.address() as { port: number };
    for (const [bytes, route] of [
      ['nonsense\r\n\r\n', 'none'],
      [bytesOf(`/v1/ping?${'x'.repeat(20_000)}`), 'none'],
      ['GET /v1/ping HTTP/1.1\r\n\r\n', '/v1/ping'],
    ] as const) {
      const answer = await exchange(port, bytes);
      const own = lines().filter((line) => line.request_id === answer.headers['x-request-id']);
      expect(own.map(({ msg, status, ...line }) => ({ msg, status, route: line.route }))).toEqual([{ msg: 'request', status: answer.status, route }]);
    }
  });
});

describe('after all these requests', () => {
  it('the log contains no personal data, no key and no forged line', () => {
    expect(api.logged.length).toBeGreaterThan(200);
    expect(api.logged.filter((line) => CANARY.test(line))).toEqual([]);
    expect(api.logged.filter((line) => RAW_KEY.test(line))).toEqual([]);
    for (const text of keyTexts) expect(api.logged.filter((line) => line.includes(text.slice(-64)))).toEqual([]);
    for (const line of api.logged) {
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect((JSON.parse(line) as Line).msg).not.toBe('forged');
    }
    expect(lines().filter(({ request_id }) => request_id === 'forged')).toEqual([]);
  });

  it('the metrics contain no personal data, no key and no label chosen by a client', async () => {
    const { text } = await send(api, 'GET', '/metrics');
    expect(text).toContain('http_request_duration_seconds_bucket');
    expect(text).not.toMatch(CANARY);
    expect(text).not.toMatch(RAW_KEY);
    const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map((match) => match[1]!));
    expect([...routes].filter((route) => !/^(none|\/[a-z0-9_/:.{}-]*)$/.test(route))).toEqual([]);
  });

  const contentOf = async (name: string): Promise<unknown> => {
    const type = await inside.type(name);
    if (type === 'hash') return inside.hgetall(name);
    if (type === 'list') return inside.lrange(name, 0, -1);
    if (type === 'zset') return inside.zrange(name, 0, -1, 'WITHSCORES');
    if (type === 'string') return inside.get(name);
    throw new Error(`contentOf cannot read ${name}, a ${type}`);
  };

  it('Redis contains no personal data and no key', async () => {
    const names = await inside.keys('*');
    expect(names.length).toBeGreaterThan(1);
    const dump = JSON.stringify(await Promise.all(names.map(async (name) => [name, await contentOf(name)])));
    expect(dump).not.toMatch(CANARY);
    expect(dump).not.toMatch(RAW_KEY);
    for (const text of keyTexts) expect(dump).not.toContain(text.slice(-64));
  });

  it('the database contains only hashes of keys and four characters from each end', async () => {
    const tables = await fixtures.make.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND relnamespace = 'public'::regnamespace`,
    );
    expect(tables.length).toBeGreaterThan(25);
    let dump = '';
    for (const { name } of tables) {
      const rows = await fixtures.make.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      dump += rows.map(({ row }) => row).join('\n');
    }
    expect(dump).toContain(createHash('sha256').update(key.key).digest('hex'));
    expect(dump).toContain(STORED);
    expect(dump).not.toMatch(RAW_KEY);
    for (const text of keyTexts) expect(dump).not.toContain(text.slice(-64));
    expect(dump).not.toContain(SENT);
  });
});
