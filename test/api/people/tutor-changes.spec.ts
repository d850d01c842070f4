import supertest from 'supertest';
import type { Scope } from '@app/access';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const keyOf = (id: string) => api.key(id, { scopes: ['read', 'tutors:write'] });
const [key, otherKey] = [await keyOf(school), await keyOf(other)];

async function put(id: string, change: object, as = key) {
  const put = supertest(api.server).put(`/v1/tutors/${id}`).set('Authorization', `Token token=${as}`);
  const answer = await put.send(change);
  return { status: answer.status, body: answer.body as Record<string, unknown> & { detail?: { loc: unknown; type: string }[] } };
}

/** Everything of a tutor that the request may change, as it is sent and as it is shown. */
const ALL = {
  bio: 'Patient',
  teaching_mode: 'both',
  is_published: true,
  handle: 'ada-l',
  home_suburb: 'Carlton',
  home_postcode: '3053',
  service_postcodes: ['3053', '3056'],
  serves_all_areas: true,
  max_travel_km: 12,
  in_person_arrangements: ['library'],
  specialisations: ['exams'],
  first_name: 'Ada',
  last_name: 'King',
};

it('changes every field, and leaves each that is absent', async () => {
  const { id } = await make.tutor(school, { profile: { bio: 'Old', homeLat: -37, homeLng: 144 } });
  const before = (await api.get(`/v1/tutors/${id}`, key)).body as object;
  expect(await put(id, {})).toEqual({ status: 200, body: before });
  const changed = { ...before, ...ALL, full_name: 'Ada King', home_lat: null, home_lng: null };
  expect(await put(id, ALL)).toEqual({ status: 200, body: changed });
  expect(await put(id, {})).toEqual({ status: 200, body: changed });
  for (const [name, value] of Object.entries(ALL)) {
    const cleared = Array.isArray(value) ? [] : typeof value === 'boolean' ? false : name.endsWith('_name') ? 'B' : null;
    const { body } = await put(id, { [name]: cleared });
    expect(body).toEqual({ ...changed, [name]: cleared, ...(name.endsWith('_name') && { full_name: expect.any(String) as string }) });
    expect((await put(id, { [name]: value })).body).toEqual(changed);
  }
  expect((await api.get(`/v1/tutors/${id}`, key)).body).toEqual(changed);
  const [noted] = await make.query<{ details: { fields: string[] } }>(
    `SELECT details FROM audit_log WHERE details->>'tutor_id' = $1 ORDER BY id OFFSET 1 LIMIT 1`,
    [id],
  );
  expect(noted!.details.fields.sort()).toEqual(Object.keys(ALL).sort());
});

it('clears the coordinates only when the home changes', async () => {
  const home = { homeSuburb: 'Brunswick', homePostcode: '3056', homeLat: -37.5, homeLng: 144.5 };
  for (const [change, lat] of [
    [{ home_suburb: 'Brunswick', home_postcode: '3056', bio: 'x' }, -37.5],
    [{ home_suburb: 'Coburg' }, null],
    [{ home_postcode: null }, null],
  ] as const) {
    const { id } = await make.tutor(school, { profile: home });
    expect((await put(id, change)).body).toMatchObject({ home_lat: lat, home_lng: lat && 144.5 });
  }
});

it('makes a missing profile of an owner, an admin or a tutor, and of nobody else', async () => {
  for (const role of ['owner', 'admin', 'tutor'] as const) {
    const { id } = await make.member(school, { role });
    expect(await put(id, { is_published: true })).toMatchObject({ status: 200, body: { role, is_published: true, bio: null } });
    const published = await api.get('/v1/tutors?is_published=true&limit=100', key);
    expect((published.body as { data: { id: string }[] }).data.map((one) => one.id)).toContain(id);
  }
  const student = await make.student(school);
  const parent = await make.parent(school, { children: [student.id] });
  for (const { id } of [student, parent, await make.tutor(other)]) expect((await put(id, {})).status).toBe(404);
  const { id } = await make.tutor(school, { status: 'archived' });
  expect((await put(id, { bio: 'x' })).status).toBe(422);
});

it('replaces the subjects, named by ids or codes', async () => {
  const { id: teaching } = await make.organization();
  const [{ id }, as] = [await make.tutor(teaching), await keyOf(teaching)];
  const [maths, physics, art] = await Promise.all(['Maths', 'Physics', 'Art'].map((name) => make.subject(teaching, { name })));
  const foreign = await make.subject(other);
  const teach = async (subjects: string[]) => {
    const { status, body } = await put(id, { tutor_subjects: subjects }, as);
    return status === 200 ? body.subjects : status;
  };
  expect(await teach([physics!.id, 'maths'])).toEqual(['Maths', 'Physics']);
  expect((await put(id, {}, as)).body.tutor_subjects).toEqual([maths!.id, physics!.id]);
  expect(await teach(['art', art!.id.toUpperCase(), 'maths'])).toEqual(['Art', 'Maths']);
  for (const unknown of [foreign.id, foreign.code, 'Maths']) expect(await teach(['physics', unknown])).toBe(404);
  expect((await put(id, {}, as)).body.subjects).toEqual(['Art', 'Maths']);
  expect(await teach([])).toEqual([]);
});

it('puts a tutor into a tier, and a student into a rate band, of the organization', async () => {
  const all = await api.key(school, { scopes: ['read', 'tutors:write', 'students:write'] });
  const [tutor, student] = [await make.tutor(school), await make.student(school, { status: 'pending' })];
  const change = async (method: 'put' | 'patch', path: string, body: object) => {
    const answer = await supertest(api.server)[method](path).set('Authorization', `Token token=${all}`).send(body);
    return { status: answer.status, body: answer.body as object };
  };
  for (const [method, path, field, own, foreign] of [
    ['put', `/v1/tutors/${tutor.id}`, 'tutor_tier_id', (await make.tutorTier(school)).id, (await make.tutorTier(other)).id],
    ['patch', `/v1/students/${student.id}`, 'rate_band_id', (await make.rateBand(school)).id, (await make.rateBand(other)).id],
  ] as const) {
    expect(await change(method, path, { [field]: own })).toMatchObject({ status: 200, body: { [field]: own } });
    expect((await change(method, path, { [field]: foreign })).status).toBe(404);
    expect(await change(method, path, {})).toMatchObject({ status: 200, body: { [field]: own } });
    expect(await change(method, path, { [field]: null })).toMatchObject({ status: 200, body: { [field]: null } });
  }
});

it('refuses a handle that another tutor of the organization has', async () => {
  const [one, two] = [await make.tutor(school), await make.tutor(school)];
  const elsewhere = await make.tutor(other);
  expect((await put(one.id, { handle: 'taken' })).status).toBe(200);
  expect((await put(one.id, { handle: 'taken' })).status).toBe(200);
  expect((await put(elsewhere.id, { handle: 'taken' }, otherKey)).status).toBe(200);
  const refused = await put(two.id, { handle: 'taken', bio: 'lost' });
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'handle'], type: 'value_error' }] } });
  const { body } = await put(two.id, {});
  expect(body).toMatchObject({ handle: null, bio: null });
  // Each tries the other's free handle at the same time: one of them gets it.
  const answers = await Promise.all([one, two].map(({ id }) => put(id, { handle: 'wanted' })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
});

it('changes names only as the organization may: of its own logins, and what it supplied of pending people', async () => {
  const own = await make.tutor(school);
  expect((await put(own.id, { last_name: 'New' })).body.last_name).toBe('New');
  const pending = await make.tutor(school, { status: 'pending', suppliedFirstName: 'Given', suppliedLastName: 'Name' });
  expect((await put(pending.id, { first_name: 'Other' })).body).toMatchObject({ first_name: 'Other', last_name: 'Name' });
  expect(await make.find('users', pending.id)).toMatchObject({ firstName: pending.firstName });
  const shared = await make.tutor(school);
  await make.member(other, { user: { id: shared.id } });
  const refused = await put(shared.id, { first_name: 'Mine', bio: 'lost' });
  expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'first_name'], type: 'value_error' }] } });
  expect((await put(shared.id, { first_name: shared.firstName, bio: 'kept' })).body.bio).toBe('kept');
});

it('refuses values that cannot be stored, all at once', async () => {
  const { id } = await make.tutor(school);
  const { status, body } = await put(id, {
    handle: 'Not A Slug',
    max_travel_km: -1,
    is_published: null,
    tutor_subjects: ['maths', 'maths'],
    role: 'owner',
  });
  expect(status).toBe(422);
  expect(body.detail!.map(({ loc, type }) => [loc, type])).toEqual([
    [['body', 'handle'], 'string_pattern_mismatch'],
    [['body', 'max_travel_km'], 'greater_than_equal'],
    [['body', 'is_published'], 'bool_type'],
    [['body', 'tutor_subjects', 1], 'value_error'],
    [['body', 'role'], 'extra_forbidden'],
  ]);
});

describe.each(['accepted', 'pending'] as const)('another name of somebody %s', (status) => {
  const rename = { first_name: 'Eve', bio: 'new' };

  it.each(['owner', 'admin'] as const)('needs accounts:write as well for an %s', async (role) => {
    const { id } = await make.member(school, { role, status, suppliedFirstName: 'Ada', suppliedLastName: 'King' });
    const { first_name, bio } = (await put(id, { bio: 'old' })).body;
    for (const scopes of [['tutors:write'], ['read', 'write']] satisfies Scope[][]) {
      const { status, body } = await put(id, rename, await api.key(school, { scopes }));
      const details = { required: ['tutors:write', 'accounts:write'], granted: scopes };
      expect([status, body.error]).toMatchObject([403, { code: 'insufficient_scope', details }]);
    }
    expect((await put(id, { first_name })).body).toMatchObject({ first_name, bio });
    const both = await api.key(school, { scopes: ['read', 'tutors:write', 'accounts:write'] });
    expect(await put(id, rename, both)).toMatchObject({ status: 200, body: rename });
  });

  it('needs nothing more for a tutor', async () => {
    const { id } = await make.tutor(school, { status });
    expect(await put(id, rename)).toMatchObject({ status: 200, body: rename });
  });
});
