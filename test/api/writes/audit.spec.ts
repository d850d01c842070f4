import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { bodyKindOf } from '../../../apps/api/src/http/validation/declared.js';
import { TestApi } from '../../support/http/api.js';
import { Probe } from '../../support/faults/probe.js';
import { isUpload, operationOf, validWrites, WHOLE } from '../../support/http/record-for.js';
import { keyedReads, keyedRoutes, nameOf, type Route, validPath } from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

type Entry = Record<string, unknown> & { operation: string; details: Record<string, unknown> };

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-audit-'));
let api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:9', DATA_DIR: dataDir }, undefined, [Probe]));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const fixtures = await createFixtures(api);
const all = keyedRoutes(api).filter(({ method }) => method !== 'GET');
const writes = [...all.filter((route) => operationOf(route) !== WHOLE), ...all.filter((route) => operationOf(route) === WHOLE)];
/** Holds every scope; the rows name its id. */
const caller = await holder(Object.keys(SCOPES) as Scope[]);

function holder(scopes: Scope[]): Promise<{ id: string; key: string }> {
  return api.keys.create(fixtures.a.id, { name: 'audited', scopes, platformBlog: true });
}

type Sent = { as?: string; body?: unknown; type?: string; headers?: Record<string, string>; method?: string };

async function ask(path: string, { as = caller.key, body, type = 'application/json', headers, method = 'POST' }: Sent = {}) {
  const { port } = api.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Token token=${as}`, 'X-Request-Id': uuidv7(), ...(body !== undefined && { 'Content-Type': type }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const requestId = response.headers.get('x-request-id')!;
  const { status } = response;
  // A write that fails with 5xx is answered before it is recorded.
  const later = status >= 500 && method !== 'GET';
  const entries = await (later ? vi.waitFor(() => theEntryOf(requestId), 5_000) : entriesOf(requestId));
  return { status, text, requestId, entries, headers: response.headers };
}

function entriesOf(requestId: string): Promise<Entry[]> {
  return fixtures.make.query<Entry>('SELECT * FROM audit_log WHERE request_id = $1', [requestId]);
}

async function theEntryOf(requestId: string): Promise<Entry[]> {
  const entries = await entriesOf(requestId);
  expect(entries).toHaveLength(1);
  return entries;
}

const absent = (route: Route) => route.path.replaceAll(/:[^/]+/g, () => uuidv7());
const tooLong = ({ handler }: Route) => `{"x":"${'x'.repeat((bodyKindOf(handler) as { json: number }).json)}"}`;
const json = (route: Route) => !isUpload(route);

/** How the row of a request differs from what it should say. */
function faults(answer: Awaited<ReturnType<typeof ask>>, route: Route, result: string, keyId = caller.id): string[] {
  const { entries, status } = answer;
  if (entries.length !== 1) return [`${nameOf(route)} ${status}: ${entries.length} rows ${answer.text.slice(0, 200)}`];
  const { organization_id, api_key_id, operation, status: told, result: ended } = entries[0]!;
  const [is, should] = [
    [organization_id, api_key_id, operation, told, ended].join(' '),
    [fixtures.a.id, keyId, operationOf(route), status, result].join(' '),
  ];
  return is === should ? [] : [`${is} is not ${should}`];
}

/** Only the first refusal of an operation in an hour leaves a row. */
beforeEach(() => fixtures.make.query('TRUNCATE refusals'));

describe('a refused write leaves one row', () => {
  it('for 403, naming the key that lacked the scope', async () => {
    const reader = await holder(['read']);
    const wrong: string[] = [];
    for (const route of writes) {
      const answer = await ask(absent(route), { as: reader.key, method: route.method });
      expect(answer.status, nameOf(route)).toBe(403);
      wrong.push(...faults(answer, route, 'insufficient_scope', reader.id));
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['422 malformed', 0, '{', 'application/json', 422, 'validation_failed'],
    ['422 unknown field', 1, '{"unheard_of":1}', 'application/json', 422, 'validation_failed'],
    ['415', 2, 'hello', 'text/plain', 415, 'unsupported_media_type'],
    ['413', 3, null, 'application/json', 413, 'payload_too_large'],
  ])('for %s', async (_what, number, body, type, status, result) => {
    const wrong: string[] = [];
    for (const route of someOf(writes.filter(json), number, 4, 20)) {
      const sent = body ?? tooLong(route);
      const answer = await ask(absent(route), { body: sent, type, method: route.method });
      expect(answer.status, `${nameOf(route)} ${answer.text.slice(0, 200)}`).toBe(status);
      wrong.push(...faults(answer, route, result));
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['404', 404, 'not_found'], ['409', 409, 'invalid_state'], ['412', 412, 'precondition_failed'], ['422', 422, 'validation_failed'],
    ['500', 500, 'internal_error'], ['sql', 500, 'internal_error'], ['killed', 503, 'service_unavailable'],
  ] as const)('for a handler that fails after its effect: %s', async (ends, status, result) => {
    const route = writes.find((one) => operationOf(one) === 'POST /v1/probes')!;
    const answer = await ask('/v1/probes', { body: { name: 'ends', ends } });
    expect(answer.status).toBe(status);
    expect(faults(answer, route, result)).toEqual([]);
    expect(answer.entries[0]!.details).toEqual({});
  }); // prettier-ignore

  it('for 400 on a malformed idempotency key, and 422 on one used for another request', async () => {
    const route = writes.find((one) => operationOf(one) === 'POST /v1/probes')!;
    const malformed = await ask('/v1/probes', { body: { name: 'x' }, headers: { 'Idempotency-Key': 'a b' } });
    expect(faults(malformed, route, 'bad_request')).toEqual([]);
    await ask('/v1/probes', { body: { name: 'x' }, headers: { 'Idempotency-Key': 'mismatched' } });
    const mismatch = await ask('/v1/probes', { body: { name: 'y' }, headers: { 'Idempotency-Key': 'mismatched' } });
    expect([mismatch.status, ...faults(mismatch, route, 'validation_failed')]).toEqual([422]);
  });
});

describe('refusals that are repeated', () => {
  it('are counted by key, route, status and minute; the first of each in an hour has a row', async () => {
    const reader = await holder(['read']);
    const [one, other] = writes.filter(json);
    const refused = async (route: Route, as: string) => (await ask(absent(route), { as, method: route.method, body: '{' })).entries.length;
    expect(await Promise.all(Array.from({ length: 8 }, () => refused(one!, reader.key)))).toHaveLength(8);
    expect(await refused(one!, caller.key)).toBe(1);
    expect(await refused(other!, reader.key)).toBe(1);
    expect(await refused(other!, reader.key)).toBe(0);
    const counts = () => fixtures.make.query<{ key: string; n: number }>(
      `SELECT api_key_id || ' ' || operation || ' ' || status AS key, sum(count)::integer AS n FROM refusals GROUP BY 1`,
    ); // prettier-ignore
    const named = async () => Object.fromEntries((await counts()).map(({ key, n }) => [key, n]));
    const name = (id: string, route: Route, status: number) => `${id} ${operationOf(route)} ${status}`;
    expect(await named()).toEqual({ [name(reader.id, one!, 403)]: 8, [name(reader.id, other!, 403)]: 2, [name(caller.id, one!, 422)]: 1 });
    const [{ rows } = { rows: 0 }] = await fixtures.make.query<{ rows: number }>(
      'SELECT count(*)::integer AS rows FROM audit_log WHERE api_key_id = $1',
      [reader.id],
    );
    expect(rows).toBe(2);
    // An hour later the next one has a row again.
    await fixtures.make.query(`UPDATE refusals SET minute = minute - interval '1 hour'`);
    expect(await refused(one!, reader.key)).toBe(1);
  });
});

describe('requests that leave no row', () => {
  it('are those refused with 401 or 429', async () => {
    const strict = await TestApi.start({ RATE_LIMIT_PER_MINUTE: '1' }, api.database, [Probe]);
    const usual = api;
    api = strict;
    const spent = await holder(['read']);
    const before = await total();
    for (const route of someOf(writes, 0, 10, 20)) {
      expect((await ask(absent(route), { as: 'garbage', method: route.method })).status).toBe(401);
    }
    await api.get('/v1/ping', spent.key);
    for (const route of someOf(writes, 1, 10, 20)) {
      expect((await ask(absent(route), { as: spent.key, method: route.method })).status).toBe(429);
    }
    expect(await total()).toBe(before);
    api = usual;
    await strict.close();
  });

  it('are reads, unknown paths and unknown methods', async () => {
    const before = await total();
    for (const route of keyedReads(api).filter(({ path }) => path !== '/v1/probes/reads')) {
      expect((await ask(validPath(route, fixtures.a), { method: 'GET' })).status, nameOf(route)).toBe(200);
    }
    await ask('/v1/nowhere', { body: {} });
    await ask('/v1/ping', { method: 'DELETE' });
    expect(await total()).toBe(before);
  });

  it('are replays', async () => {
    const sent = { body: { name: 'once' }, headers: { 'Idempotency-Key': randomBytes(8).toString('hex') } };
    const [first, again] = [await ask('/v1/probes', sent), await ask('/v1/probes', sent)];
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect([first.entries.length, again.entries.length]).toEqual([1, 0]);
  });
});

async function total(): Promise<number> {
  return (await fixtures.make.query<{ n: number }>('SELECT count(*)::int AS n FROM audit_log'))[0]!.n;
}

describe('a completed write leaves one row', () => {
  it('for every write but uploads, with ids and never with personal data', async () => {
    const wrong: string[] = [];
    const walked: Entry[] = [];
    const [probes, real] = [true, false].map((probe) => writes.filter((route) => json(route) && route.path.startsWith('/v1/probes') === probe));
    const requests = [
      ...probes!.map((route) => ({ route, path: route.path.replace(':probe_id', 'canary'), body: { name: 'Canary' } })),
      ...(await validWrites(real!, fixtures.make, fixtures.a)),
    ];
    for (const { route, path, body } of requests) {
      const answer = await ask(path, { body, method: route.method, headers: operationOf(route) === WHOLE ? { 'If-Match': '*' } : {} });
      expect(answer.status, `${nameOf(route)} ${answer.text}`).toBeLessThan(300);
      wrong.push(...faults(answer, route, 'done'));
      const { fields } = answer.entries[0]!.details;
      const sent = body && Object.keys(body).length > 0 ? Object.keys(body) : undefined;
      if (JSON.stringify(fields) !== JSON.stringify(sent))
        wrong.push(`${nameOf(route)}: fields ${JSON.stringify(fields)} of ${JSON.stringify(sent)}`);
      walked.push(...answer.entries);
    }
    expect(wrong).toEqual([]);
    for (const { details, operation } of walked) {
      expect(Object.keys(details), operation).not.toEqual([]);
    }
    const dump = JSON.stringify(await fixtures.make.query('SELECT * FROM audit_log'));
    expect(dump.length).toBeGreaterThan(1000);
    expect(dump.toLowerCase().replaceAll('/v1/probes/canary', '')).not.toContain('canary');
  });
});

it('a write inside a GET fails with 25006 and changes nothing', async () => {
  const before = await fixtures.make.query('SELECT id FROM subjects');
  const answer = await ask('/v1/probes/reads', { method: 'GET' });
  expect([answer.status, answer.entries]).toEqual([500, []]);
  const line = api.logged.find((one) => one.includes(answer.requestId) && one.includes('"err"'))!;
  expect(line).toContain('25006');
  expect(await fixtures.make.query('SELECT id FROM subjects')).toEqual(before);
});
