import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '@app/access';
import { Vault } from '@app/config';
import { TestApi } from '../../support/http/api.js';

type Fields = Record<string, unknown>;

const api = await TestApi.shared();
const { make } = api;

const URL = 'https://hooks.example.org/tutoring';

async function open(scopes: Scope[] = ['read', 'webhooks:write']) {
  const { id: school } = await make.organization();
  const key = await api.key(school, { scopes });
  const send = async (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, headers: Record<string, string> = {}, as = key) => {
    const answer = await supertest(api.server)[method](path).set('Authorization', `Token token=${as}`).set(headers).send(body);
    return { status: answer.status, body: answer.body as Fields, headers: answer.headers as Record<string, string> };
  };
  const create = async (more: object = {}) => (await send('post', '/v1/webhook-endpoints', { url: URL, ...more })).body;
  /** Sends a test, although one was just sent. */
  const test = async (id: unknown) => {
    await make.query(`UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE organization_id = $1`, [school]);
    return send('post', `/v1/webhook-endpoints/${String(id)}/test`);
  };
  const stored = (id: unknown) =>
    make.query<{ secret: Buffer; previous_secret: Buffer | null; position: number }>('SELECT * FROM webhook_endpoints WHERE id = $1', [id]);
  return { school, key, send, create, test, stored };
}

/** The place and the words of each fault. */
const faultsOf = ({ status, body }: { status: number; body: Fields }) => {
  expect(status).toBe(422);
  return (body.detail as { loc: (string | number)[]; msg: string }[]).map(({ loc, msg }) => [loc.join('.'), msg]);
};

it('creates an endpoint, whose secret is shown once and sealed at rest, and sends it a test', async () => {
  const { send, create, stored } = await open();
  const made = await create({ event_types: ['session.*', 'student.created'], description: 'Accounting' });
  const { secret, ...endpoint } = made;
  expect(endpoint).toMatchObject({
    ...{ url: URL, event_types: ['session.*', 'student.created'], description: 'Accounting', enabled: true, disabled_reason: null },
    ...{ failing_since: null, previous_secret_until: null, last_delivery_id: null },
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const [row] = await stored(made.id);
  expect(row!.secret.includes(Buffer.from(String(secret).slice(6), 'base64'))).toBe(false);
  expect(row!.secret.includes(String(secret))).toBe(false);
  expect((await send('get', `/v1/webhook-endpoints/${String(made.id)}`)).body).toEqual(endpoint);
  expect((await send('get', '/v1/webhook-endpoints')).body).toEqual({ data: [endpoint] });
  const { data } = (await send('get', '/v1/webhook-deliveries')).body as { data: Fields[] };
  expect(data).toMatchObject([{ endpoint_id: made.id, event_id: null, status: 'queued', attempts: 0, response_status: null }]);
  expect((await send('get', `/v1/webhook-deliveries/${String(data[0]!.id)}`)).body).toEqual(data[0]);
});

it('names types that do not exist at their place, and refuses addresses that cannot be called', async () => {
  const { send } = await open();
  const post = (body: object) => send('post', '/v1/webhook-endpoints', body);
  expect(faultsOf(await post({}))).toMatchObject([['body.url', expect.any(String)]]);
  const types = ['session.completed', 'session.*', '*', 'session', 'sessions.*', 'session.begun', 'Session.completed'];
  expect(faultsOf(await post({ url: URL, event_types: types })).map(([at]) => at)).toEqual([2, 3, 4, 5, 6].map((at) => `body.event_types.${at}`));
  for (const url of ['', 'x', 'ftp://a.example/', 'javascript:alert(1)', 'https://user:never@a.example/', `https://a.example/${'a'.repeat(2_000)}`])
    expect([url, faultsOf(await post({ url })).map(([at]) => at)]).toEqual([url, ['body.url']]);
  expect(faultsOf(await post({ url: URL, description: 'a'.repeat(501) })).map(([at]) => at)).toEqual(['body.description']);
});

it('changes what is sent, in the version that the client knows, which calls do not change', async () => {
  const { school, send, create } = await open();
  const { id, secret: _secret, ...made } = await create();
  const path = `/v1/webhook-endpoints/${String(id)}`;
  const before = await send('get', path);
  await make.query(
    `UPDATE outbox SET status = 'sent', tried_at = now(), finished_at = now(), attempts = 1, response_status = 204 WHERE organization_id = $1`,
    [school],
  );
  const after = await send('get', path);
  expect(after.body).toMatchObject({ last_delivery_status: 'sent', last_delivery_id: expect.any(String) as string });
  // It looks otherwise, and can still be changed by whoever saw it before.
  expect(after.headers.etag).not.toBe(before.headers.etag);
  expect((await send('patch', path, { description: 'New' }, { 'If-Match': '"another"' })).status).toBe(412);
  const changed = await send(
    'patch',
    path,
    { description: 'New', event_types: [], url: 'https://b.example:8443/' },
    { 'If-Match': before.headers.etag! },
  );
  expect(changed).toMatchObject({ status: 200, body: { ...made, description: 'New', event_types: [], url: 'https://b.example:8443/', updated_at: expect.any(String) as string, last_delivery_status: 'sent', last_delivery_id: expect.any(String) as string, last_delivery_at: expect.any(String) as string, waiting: 0, waiting_since: null } }); // prettier-ignore
  expect((await send('patch', path, { description: 'Other' }, { 'If-Match': before.headers.etag! })).status).toBe(412);
  expect(faultsOf(await send('patch', path, { event_types: ['nothing.created'] }))).toMatchObject([['body.event_types.0', expect.any(String)]]);
  const off = await send('patch', path, { enabled: false });
  expect(off.body).toMatchObject({ enabled: false, disabled_reason: 'request' });
  expect((await send('patch', path, { enabled: true })).body).toMatchObject({ enabled: true, disabled_reason: null });
});

it('rotates the secret: both sign for a day', async () => {
  const { send, create, stored } = await open();
  const made = await create();
  const { status, body } = await send('post', `/v1/webhook-endpoints/${String(made.id)}/rotate-secret`);
  expect([status, body.secret]).toEqual([200, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
  expect(Object.keys(body)).toEqual(['id', 'secret', 'previous_secret_until']);
  expect(body.secret).not.toBe(made.secret);
  expect(Date.parse(String(body.previous_secret_until)) - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
  const [row] = await stored(made.id);
  const vault = api.app.get(Vault, { strict: false });
  expect(vault.open('webhook secrets', row!.secret)).toBe(body.secret);
  expect(vault.open('webhook secrets', row!.previous_secret!)).toBe(made.secret);
  expect((await send('get', `/v1/webhook-endpoints/${String(made.id)}`)).body).not.toHaveProperty('secret');
});

it('shows a secret again to the key that made it, in a repeat of the request, and to no other', async () => {
  const { school, key, send } = await open();
  const other = await api.key(school, { scopes: ['read', 'webhooks:write'] });
  const once = { 'Idempotency-Key': uuidv7() };
  const create = (as: string) => send('post', '/v1/webhook-endpoints', { url: URL }, once, as);
  const made = await create(key);
  expect((await create(key)).body).toEqual(made.body);
  expect((await create(other)).body).toEqual({ ...made.body, secret: '' });
  const rotate = (as: string) => send('post', `/v1/webhook-endpoints/${String(made.body.id)}/rotate-secret`, undefined, once, as);
  const { secret } = (await rotate(key)).body;
  expect([(await rotate(key)).body.secret, (await rotate(other)).body.secret]).toEqual([secret, '']);
});

it('counts what waits, whether in the feed or on its way', async () => {
  const { school, send, create, test } = await open();
  const made = await create({ event_types: ['student.*', 'session.completed'] });
  await make.query(`DELETE FROM outbox WHERE organization_id = $1`, [school]);
  // Numbers that nothing else of this database gets.
  const [{ number } = { number: 0 }] = await make.query<{ number: number }>(
    'WITH given AS (UPDATE event_counter SET number = number + 2000 RETURNING number) SELECT number::integer - 2000 AS number FROM given',
  );
  for (const [at, type] of ['student.created', 'student.updated', 'session.created', 'session.completed'].entries())
    await make.query(
      `INSERT INTO events (organization_id, number, type, resource, resource_id, timestamp, data)
       VALUES ($1, $2, $3, split_part($3, '.', 1), gen_random_uuid(), $4, '{}')`,
      [school, number + 1_000 + at, type, `2026-03-0${at + 1}T00:00:00Z`],
    );
  const read = async () => (await send('get', `/v1/webhook-endpoints/${String(made.id)}`)).body;
  expect(await read()).toMatchObject({ waiting: 3, waiting_since: '2026-03-01T00:00:00.000Z' });
  await make.query('UPDATE webhook_endpoints SET position = $2 WHERE id = $1', [made.id, number + 1_000]);
  expect(await read()).toMatchObject({ waiting: 2, waiting_since: '2026-03-02T00:00:00.000Z' });
  expect((await test(made.id)).body).toMatchObject({ event_type: 'webhook.test', event_id: null, status: 'queued' });
  expect(await read()).toMatchObject({ waiting: 2 });
  expect(await send('post', `/v1/webhook-endpoints/${String(made.id)}/test`)).toMatchObject({
    status: 409,
    body: { error: { code: 'tested_recently' } },
  });
});

it('has at most ten for an organization, and tells no other of them', async () => {
  const { send, create } = await open();
  const { id } = await create();
  for (let more = 0; more < 9; more++) await create();
  const { status, body } = await send('post', '/v1/webhook-endpoints', { url: URL });
  expect([status, body]).toMatchObject([409, { error: { code: 'too_many', details: { limit: 10 } } }]);
  expect((await send('delete', `/v1/webhook-endpoints/${String(id)}`)).status).toBe(204);
  expect((await send('post', '/v1/webhook-endpoints', { url: URL })).status).toBe(201);
  const others = await open();
  expect((await others.send('get', '/v1/webhook-endpoints')).body).toEqual({ data: [] });
});

it('deletes an endpoint with what waits for it; its calls stay in the log', async () => {
  const { school, send, create, test } = await open();
  const { id } = await create();
  await make.query(`UPDATE outbox SET status = 'sent', finished_at = now() WHERE organization_id = $1`, [school]);
  await test(id);
  expect((await send('delete', `/v1/webhook-endpoints/${String(id)}`)).status).toBe(204);
  expect((await send('get', `/v1/webhook-endpoints/${String(id)}`)).status).toBe(404);
  const { data } = (await send('get', `/v1/webhook-deliveries?endpoint_id=${String(id)}`)).body as { data: Fields[] };
  expect(data).toMatchObject([{ status: 'sent' }]);
  expect(await send('post', `/v1/webhook-deliveries/${String(data[0]!.id)}/replay`)).toMatchObject({
    status: 409,
    body: { error: { code: 'not_replayable' } },
  });
});

it('replays a call with all its tries and the same id', async () => {
  const { school, send, create } = await open();
  await create();
  const event = uuidv7();
  await make.query(
    `WITH given AS (UPDATE event_counter SET number = number + 1 RETURNING number)
     INSERT INTO events (id, organization_id, number, type, resource, resource_id, timestamp, data)
     SELECT $2, $1, number, 'session.completed', 'session', $2, now(), '{}' FROM given`,
    [school, event],
  );
  await make.query(
    `UPDATE outbox SET event_id = $2, kind = 'session.completed', status = 'dead', attempts = 10, finished_at = now(), last_error = 'http_500'
     WHERE organization_id = $1`,
    [school, event],
  );
  const [call] = ((await send('get', '/v1/webhook-deliveries?status=dead')).body as { data: Fields[] }).data;
  expect(call).toMatchObject({
    event_id: event,
    webhook_id: event,
    event_type: 'session.completed',
    attempts: 10,
    error: 'http_500',
    next_attempt_at: null,
  });
  const path = `/v1/webhook-deliveries/${String(call!.id)}`;
  expect(await send('post', `${path}/replay`)).toMatchObject({
    status: 200,
    body: { status: 'queued', attempts: 0, webhook_id: event, finished_at: null },
  });
  expect((await send('get', '/v1/webhook-deliveries?status=dead')).body).toMatchObject({ data: [] });
  expect(await send('post', `${path}/replay`)).toMatchObject({ status: 200, body: { status: 'queued' } });
  await make.query(`UPDATE outbox SET attempts = 1, leased_by = 'w', leased_until = now() + interval '1 minute' WHERE organization_id = $1`, [
    school,
  ]);
  expect(await send('post', `${path}/replay`)).toMatchObject({ status: 409, body: { error: { code: 'not_replayable' } } });
  const since = new Date(Date.now() + 60_000).toISOString();
  expect((await send('get', `/v1/webhook-deliveries?since=${since}`)).body).toMatchObject({ data: [] });
});

it('needs webhooks:write, and read where events can be seen or asked for', async () => {
  const { school, create } = await open();
  const { id } = await create();
  await make.query(`UPDATE outbox SET created_at = created_at - interval '1 minute' WHERE organization_id = $1`, [school]);
  const at = `/v1/webhook-endpoints/${String(id)}`;
  for (const [method, path, body, alone] of [
    ['get', '/v1/webhook-endpoints', undefined, true],
    ['get', at, undefined, true],
    ['post', '/v1/webhook-endpoints', { url: URL }, false],
    ['patch', at, { enabled: true }, false],
    ['get', '/v1/webhook-deliveries', undefined, false],
    ['post', `${at}/test`, undefined, true],
    ['post', `${at}/rotate-secret`, undefined, true],
  ] as const) {
    const statuses: number[] = [];
    for (const scopes of [['read', 'write'], ['webhooks:write']] as Scope[][]) {
      const key = await api.key(school, { scopes });
      const answer = await supertest(api.server)[method](path).set('Authorization', `Token token=${key}`).send(body);
      statuses.push(answer.status);
    }
    expect([method, path, ...statuses]).toEqual([method, path, 403, alone ? 200 : 403]);
  }
});
