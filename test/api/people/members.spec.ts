import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const key = await api.key(school, { scopes: ['read', 'tutors:write'] });
const room = (await make.classroom(school)).id;
const group = (await make.group(school)).id;

function post(path: string, body: object, as = key): supertest.Test {
  return supertest(api.server).post(path).set('Authorization', `Token token=${as}`).send(body);
}

const inRoom = { what: 'classroom', table: 'classroom_members', column: 'classroom_id' } as const;
const inGroup = { what: 'group', table: 'student_group_members', column: 'group_id' } as const;
/** The four routes. */
const PLACES = [
  { ...inRoom, whom: 'tutors', path: (id: string) => `/v1/classrooms/${id}/tutors`, seat: 'teacher' },
  { ...inRoom, whom: 'students', path: (id: string) => `/v1/classrooms/${id}/students`, seat: 'student' },
  { ...inGroup, whom: 'tutors', path: (id: string) => `/v1/groups/${id}/tutors`, seat: 'tutor' },
  { ...inGroup, whom: 'students', path: (id: string) => `/v1/groups/${id}/students`, seat: 'student' },
] as const;

type Place = (typeof PLACES)[number];

const placeId = ({ what }: Place) => (what === 'classroom' ? room : group);
const pathOf = (place: Place, id = placeId(place)) => place.path(id);
const fitting = ({ whom }: Place) => (whom === 'tutors' ? ('tutor' as const) : ('student' as const));

function rows(place: Place, userId: string) {
  return make.query<{ id: string; role: string }>(`SELECT id, role FROM ${place.table} WHERE ${place.column} = $1 AND user_id = $2`, [
    placeId(place),
    userId,
  ]);
}

describe.each(PLACES)('POST /v1/$what…/$whom', (place) => {
  it('adds an accepted member and returns only the id of the membership', async () => {
    const { id: user } = await make.member(school, { role: fitting(place) });
    const answer = await post(pathOf(place), { user_id: user });
    const [row] = await rows(place, user);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({ member_id: row!.id });
    expect(row!.role).toBe(place.seat);
  });

  it('returns the same id when repeated in any spelling, and changes nothing', async () => {
    const { id: user } = await make.member(school, { role: fitting(place) });
    const first = await post(pathOf(place), { user_id: user });
    const before = await make.query(`SELECT xmin, * FROM ${place.table}`);
    const again = await post(pathOf(place, placeId(place).toUpperCase()), { user_id: user.toUpperCase() });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await make.query(`SELECT xmin, * FROM ${place.table}`)).toEqual(before);
  });

  it('creates one membership for 20 simultaneous requests', async () => {
    const { id: user } = await make.member(school, { role: fitting(place) });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(pathOf(place), { user_id: user })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
    expect(await rows(place, user)).toHaveLength(1);
  });

  it.each(['owner', 'admin', 'tutor', 'student'] as const)('accepts the role %s only where it fits', async (role) => {
    const { id: user } = await make.member(school, { role });
    const fits = (role === 'student') === (place.whom === 'students');
    const answer = await post(pathOf(place), { user_id: user });
    expect(answer.status).toBe(fits ? 200 : 422);
    if (!fits) expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'user_id'], type: 'value_error' }] });
    expect(await rows(place, user)).toHaveLength(fits ? 1 : 0);
  });

  it('returns the same 404 for everybody who is no accepted member here, with no effect', async () => {
    const role = fitting(place);
    const another = role === 'tutor' ? 'student' : 'tutor';
    const people = [
      uuidv7(),
      (await make.member(other, { role })).id,
      (await make.member(school, { role, status: 'pending' })).id,
      (await make.member(school, { role, status: 'archived', archivedAt: new Date() })).id,
      (await make.member(school, { role: another, status: 'pending' })).id,
      (await make.parent(school)).id,
    ];
    const answers = await Promise.all(people.map((id) => post(pathOf(place), { user_id: id })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.body).toMatchObject({ error: { code: 'not_found' } });
    for (const id of people) expect(await rows(place, id)).toEqual([]);
  });

  it('keeps the membership of a person whose role changed and updates its role', async () => {
    const role = fitting(place);
    const { id: user } = await make.member(school, { role: role === 'tutor' ? 'student' : 'tutor' });
    const twin = PLACES.find(({ what, whom }) => what === place.what && whom !== place.whom)!;
    const before = await post(pathOf(twin), { user_id: user });
    await make.query('UPDATE members SET role = $1 WHERE user_id = $2', [role, user]);
    expect((await post(pathOf(place), { user_id: user })).body).toEqual(before.body);
    expect(await rows(place, user)).toEqual([{ id: (before.body as { member_id: string }).member_id, role: place.seat }]);
  });
});

describe('a group', () => {
  it('lists a new student and updates its timestamp once', async () => {
    const { id } = await make.group(school, { updatedAt: new Date('2026-01-01T00:00:00Z') });
    const { id: user } = await make.student(school);
    const path = `/v1/groups/${id}/students`;
    await post(path, { user_id: user });
    const read = () => api.get(`/v1/student-groups/${id}`, key);
    const after = (await read()).body as { student_ids: string[]; updated_at: string };
    expect(after.student_ids).toEqual([user]);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse('2026-02-01'));
    await post(path, { user_id: user });
    expect((await read()).body).toEqual(after);
  });

  it('without an owner accepts members where it is visible, and nowhere else', async () => {
    const { id } = await make.group(null, { tutorId: (await make.tutor(school)).id });
    const [mine, theirs] = [await make.student(school), await make.student(other)];
    expect((await post(`/v1/groups/${id}/students`, { user_id: mine.id })).status).toBe(200);
    const stranger = await api.key(other, { scopes: ['tutors:write'] });
    expect((await post(`/v1/groups/${id}/students`, { user_id: theirs.id }, stranger)).status).toBe(404);
  });
});
