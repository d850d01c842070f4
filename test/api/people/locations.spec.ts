import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

async function open() {
  const { id: school } = await make.organization();
  const [tutor, student] = [(await make.tutor(school)).id, (await make.student(school)).id];
  const keyWith = (...scopes: ('settings:write' | 'tutors:write' | 'students:write' | 'sessions:write')[]) =>
    api.key(school, { scopes: ['read', ...scopes] });
  const all = await keyWith('settings:write', 'tutors:write', 'students:write');
  const send = async (method: 'post' | 'patch' | 'delete', path: string, body: object = {}, key = all, headers: Record<string, string> = {}) => {
    const answer = await supertest(api.server)[method](path).set('Authorization', `Token token=${key}`).set(headers).send(body);
    return { status: answer.status, body: answer.body as Record<string, unknown> };
  };
  const owners = { org: {}, tutor: { owner_type: 'tutor', tutor_id: tutor }, student: { owner_type: 'student', student_id: student } };
  return { school, tutor, student, keyWith, all, send, owners };
}

const NEEDED = { org: 'settings:write', tutor: 'tutors:write', student: 'students:write' } as const;

it.each(['org', 'tutor', 'student'] as const)('of an owner (%s) needs the owner’s scope to be made, changed and deleted', async (owner) => {
  const { keyWith, send, owners } = await open();
  const scope = NEEDED[owner];
  const others = Object.values(NEEDED).filter((one) => one !== scope);
  const [right, wrong, none] = [await keyWith(scope), await keyWith(...others), await keyWith('sessions:write')];
  const body = { label: 'Hall', ...owners[owner] };
  const once = { 'Idempotency-Key': 'a-location' };
  const made = await send('post', '/v1/locations', body, right, once);
  expect(made).toMatchObject({ status: 201, body: { owner_type: owner, label: 'Hall', is_default: false } });
  const one = `/v1/locations/${String(made.body.id)}`;
  const change = { 'Idempotency-Key': 'its-change' };
  expect((await send('patch', one, { suburb: 'Coburg' }, right, change)).body).toMatchObject({ suburb: 'Coburg' });
  for (const [method, path, sent, key] of [
    ['post', '/v1/locations', body, once],
    ['patch', one, { suburb: 'Coburg' }, change],
    ['delete', one, {}, {}],
  ] as const) {
    // Also what has been answered before.
    for (const headers of [{}, key]) {
      const refused = await send(method, path, sent, wrong, headers);
      expect([method, refused]).toMatchObject([
        method,
        { status: 403, body: { error: { code: 'insufficient_scope', details: { required: [scope] } } } },
      ]);
      expect((await send(method, path, sent, none, headers)).status).toBe(403);
    }
  }
  expect((await send('patch', `/v1/locations/${crypto.randomUUID()}`, {}, wrong)).status).toBe(404);
  expect((await send('delete', one, {}, right)).status).toBe(204);
});

it('a new default takes the place of the owner’s former one, also when many come at once', async () => {
  const { school, all, send, owners } = await open();
  await send('post', '/v1/locations', { label: 'Office', is_default: true });
  const made = await Promise.all(
    Array.from({ length: 6 }, (_, n) => send('post', '/v1/locations', { ...owners.student, label: `L${n}`, is_default: true })),
  );
  const ids = made.map(({ status, body }) => {
    expect(status).toBe(201);
    return String(body.id);
  });
  const defaults = async () => {
    const listed = (await api.get('/v1/locations?limit=100', all)).body as { data: { id: string; label: string; is_default: boolean }[] };
    return listed.data.filter(({ is_default: is }) => is).map(({ id, label }) => (label === 'Office' ? label : id));
  };
  expect(await defaults()).toHaveLength(2);
  const changed = await Promise.all(ids.map((id) => send('patch', `/v1/locations/${id}`, { is_default: true })));
  expect(changed.map(({ status }) => status)).toEqual(ids.map(() => 200));
  await send('patch', `/v1/locations/${ids[2]!}`, { is_default: true });
  expect((await defaults()).sort()).toEqual([ids[2], 'Office'].sort());
  expect(await make.query('SELECT FROM locations WHERE organization_id = $1', [school])).toHaveLength(7);
});

it('takes an owner that fits, and no street', async () => {
  const { send, tutor, student } = await open();
  for (const wrong of [
    { owner_type: 'tutor' }, { tutor_id: tutor }, { owner_type: 'student', tutor_id: tutor }, { owner_type: 'tutor', tutor_id: student },
    { street: '1 Example Street' }, { address: '1 Example Street' },
  ]) expect([wrong, (await send('post', '/v1/locations', wrong)).status]).toEqual([wrong, 422]); // prettier-ignore
  const gone = (await open()).tutor;
  expect((await send('post', '/v1/locations', { owner_type: 'tutor', tutor_id: gone })).status).toBe(404);
});

it('says where, at least in a word', async () => {
  const { send } = await open();
  const refused = { status: 422, body: { detail: [{ loc: ['body', 'label'], type: 'value_error' }] } };
  expect(await send('post', '/v1/locations', {})).toMatchObject(refused);
  expect(await send('post', '/v1/locations', { label: null, is_default: true })).toMatchObject(refused);
  const { body } = await send('post', '/v1/locations', { state: 'VIC' });
  expect(await send('patch', `/v1/locations/${String(body.id)}`, { state: null })).toMatchObject(refused);
});
