import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const school = (await make.organization()).id;
const key = await api.key(school, { scopes: ['accounts:write'] });

afterAll(async () => {
  // Only refusals: nothing may have been stored.
  expect(await make.query('SELECT id FROM invites WHERE organization_id = $1', [school])).toEqual([]);
  expect(await make.query('SELECT id FROM outbox WHERE organization_id = $1', [school])).toEqual([]);
});

function invite(body: unknown, as = key): supertest.Test {
  return supertest(api.server)
    .post('/v1/invites')
    .set('Authorization', `Token token=${as}`)
    .set('Content-Type', 'application/json')
    .send(JSON.stringify(body));
}

/** The faults of the 422, as `type at loc`. */
async function faults(body: unknown): Promise<string[]> {
  const answer = await invite(body);
  expect([answer.status, answer.text]).toEqual([422, expect.anything()]);
  const { detail } = answer.body as { detail: { loc: (string | number)[]; type: string }[] };
  return detail.map(({ loc, type }) => `${type} at ${loc.join('.')}`).sort();
}

const ID = uuidv7();
const OWN: Record<string, string[]> = {
  organization: ['role'],
  tutor_student: ['tutor_id', 'subject_id'],
  classroom: ['classroom_id'],
  group: ['group_id'],
  parent: ['student_id'],
};
const REQUIRED: Record<string, string> = { tutor_student: 'tutor_id', classroom: 'classroom_id', group: 'group_id', parent: 'student_id' };
const VALUES: Record<string, string> = {
  role: 'student', tutor_id: ID, subject_id: ID, classroom_id: ID, group_id: ID, student_id: ID,
}; // prettier-ignore

describe('each scope accepts only its own fields', () => {
  it.each(Object.keys(OWN))('%s refuses every field of another scope, one by one and together', async (scope) => {
    const own = OWN[scope]!;
    const base = { scope, ...Object.fromEntries(own.map((name) => [name, VALUES[name]])) };
    const others = Object.keys(VALUES).filter((name) => !own.includes(name));
    for (const name of others) {
      expect(await faults({ ...base, [name]: VALUES[name] })).toEqual([`extra_forbidden at body.${name}`]);
    }
    const all = Object.fromEntries(others.map((name) => [name, VALUES[name]]));
    expect(await faults({ ...base, ...all })).toEqual(others.map((name) => `extra_forbidden at body.${name}`).sort());
  });

  it.each(Object.keys(OWN))('%s takes null for any other field, as if it were left out', async (scope) => {
    const own = OWN[scope]!;
    // Refused in any case, so that nothing is made.
    const base = { scope, token: 'x', ...Object.fromEntries(own.map((name) => [name, VALUES[name]])) };
    const names = [...Object.keys(VALUES), 'email'].filter((name) => !own.includes(name) || !Object.values(REQUIRED).includes(name));
    const without = await faults(Object.fromEntries(Object.entries(base).filter(([name]) => !names.includes(name))));
    for (const some of [...names.map((name) => [name]), names]) {
      expect([some, await faults({ ...base, ...Object.fromEntries(some.map((name) => [name, null])) })]).toEqual([some, without]);
    }
  });

  it.each(Object.keys(REQUIRED))('%s requires its target, which may not be null', async (scope) => {
    const missing = [`missing at body.${REQUIRED[scope]}`];
    expect(await faults({ scope })).toEqual(missing);
    expect(await faults({ scope, [REQUIRED[scope]!]: null })).toEqual(missing);
    expect(await faults({ scope, email: 'a@example.org' })).toEqual(missing);
  });

  it('admins can be invited only by email', async () => {
    expect(await faults({ scope: 'organization', role: 'admin' })).toEqual(['value_error at body.role']);
    expect(await faults({ scope: 'organization', role: 'admin', email: null })).toEqual(['value_error at body.role']);
  });
});

describe('values', () => {
  it.each([
    [{}, 'missing at body.scope'],
    [{ scope: 'account' }, 'enum at body.scope'],
    [{ scope: 'organization', role: 'owner' }, 'enum at body.role'],
    [{ scope: 'organization', email: 7 }, 'string_type at body.email'],
    [{ scope: 'organization', email: '   ' }, 'string_too_short at body.email'],
    [{ scope: 'organization', email: `${'a'.repeat(243)}@example.org` }, 'string_too_long at body.email'],
    [{ scope: 'organization', email: 'a\u0000@example.org' }, 'value_error at body.email'],
    [{ scope: 'classroom', classroom_id: `{${ID}}` }, 'uuid_parsing at body.classroom_id'],
    [{ scope: 'organization', organization_id: ID }, 'extra_forbidden at body.organization_id'],
    [{ scope: 'organization', token: 'x' }, 'extra_forbidden at body.token'],
    [{ scope: 'organization', expires_at: '2030-01-01' }, 'extra_forbidden at body.expires_at'],
  ])('refuses %j: %s', async (body, fault) => {
    expect(await faults(body)).toEqual([fault]);
  });
});
