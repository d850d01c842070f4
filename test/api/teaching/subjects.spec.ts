import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

it('GET /v1/subjects lists all subjects by name, whatever its case, with their codes', async () => {
  const [{ id: school }, { id: other }] = [await make.organization(), await make.organization()];
  for (const name of ['Physics', 'chemistry', 'Methods 3/4', 'Über-Maths']) await make.subject(school, { name });
  await make.subject(other, { name: 'Art' });
  const key = await api.key(school);
  const answer = await api.get('/v1/subjects', key);
  const { data, ...rest } = answer.body as { data: { name: string; code: string }[] };
  expect(rest).toEqual({});
  expect(data.map(({ name, code }) => [name, code])).toEqual([
    ['chemistry', 'chemistry'],
    ['Methods 3/4', 'methods_34'],
    ['Physics', 'physics'],
    ['Über-Maths', 'uber_maths'],
  ]);
  for (const query of ['limit=1', 'offset=1', 'code=physics']) {
    expect((await api.get(`/v1/subjects?${query}`, key)).status).toBe(422);
  }
});

it('has a code of the Latin letters and digits in its name, and one of its own in any case, also if many are made at once', async () => {
  const { id: school } = await make.organization();
  const key = await api.key(school, { scopes: ['read', 'settings:write'] });
  const add = async (name: string) => {
    const answer = await supertest(api.server).post('/v1/subjects').set('Authorization', `Token token=${key}`).send({ name });
    return { status: answer.status, ...(answer.body as { code: string; error?: { code: string } }) };
  };
  for (const [name, code] of Object.entries({
    'Ørsted & Łódź': 'orsted_lodz',
    数学: 'subject',
    物理: 'subject_2',
    '数学 II': 'ii',
    Straße: 'strasse',
    '!': 'subject_3',
  }))
    expect(await add(name)).toMatchObject({ status: 201, code });
  const same = await Promise.all(['Art', 'Árt', 'Art.', 'art!', 'Art?'].map(add));
  expect(same.map(({ code }) => code).sort()).toEqual(['art', 'art_2', 'art_3', 'art_4', 'art_5']);
  await make.query(`INSERT INTO subjects (id, organization_id, name) SELECT gen_random_uuid(), $1, 'Subject ' || n FROM generate_series(1, 989) n`, [
    school,
  ]);
  expect(await add('The last')).toMatchObject({ status: 409, error: { code: 'too_many', details: { limit: 1000 } } });
  expect(((await api.get('/v1/subjects', key)).body as { data: object[] }).data).toHaveLength(1000);
});

describe('an archived subject', async () => {
  const { id: school } = await make.organization();
  const key = await api.key(school, { scopes: ['read', 'write', 'settings:write', 'sessions:write'] });
  const send = async (method: 'post' | 'patch' | 'put', path: string, body: object) => {
    const answer = await supertest(api.server)[method](path).set('Authorization', `Token token=${key}`).send(body);
    return { status: answer.status, body: answer.body as Record<string, unknown> };
  };
  const [tutor, student] = [await make.tutor(school), await make.student(school)];
  const { body: art } = await send('post', '/v1/subjects', { name: 'Art 1/2' });
  const lesson = { tutor_id: tutor.id, student_id: student.id, starts_at: '2027-03-01T01:00:00Z', duration_minutes: 60 };
  const { body: booked } = await send('post', '/v1/sessions', { ...lesson, subject_id: 'art_12' });
  await send('put', `/v1/tutors/${tutor.id}`, { tutor_subjects: ['art_12'] });
  const archived = await send('patch', `/v1/subjects/${String(art.id)}`, { name: 'Fine art', is_archived: true });

  it('keeps its code under another name, and is listed when it is asked for', async () => {
    expect(archived).toMatchObject({ status: 200, body: { name: 'Fine art', code: 'art_12', is_archived: true } });
    const listed = async (query = '') => ((await api.get(`/v1/subjects${query}`, key)).body as { data: { id: string }[] }).data.map(({ id }) => id);
    expect([await listed(), await listed('?include_archived=true')]).toEqual([[], [art.id]]);
  });

  it('stays what had it, also when that is sent again, and is back when it is wanted', async () => {
    const again = { subject_id: 'art_12', title: 'Last lesson' };
    expect(await send('put', `/v1/sessions/${String(booked.id)}`, again)).toMatchObject({ status: 200, body: { title: 'Last lesson' } });
    expect(await send('put', `/v1/tutors/${tutor.id}`, { tutor_subjects: [art.id] })).toMatchObject({ status: 200 });
    expect((await send('put', `/v1/tutors/${(await make.tutor(school)).id}`, { tutor_subjects: [art.id] })).status).toBe(404);
    const earlier = (await api.get('/v1/sessions?limit=1', key)).body as { data: object[] };
    expect(earlier.data).toMatchObject([{ id: booked.id }]);
    await send('patch', `/v1/subjects/${String(art.id)}`, { is_archived: false });
    expect((await send('post', '/v1/sessions', { ...lesson, starts_at: '2027-03-02T01:00:00Z', subject_id: 'art_12' })).status).toBe(201);
  });
});
