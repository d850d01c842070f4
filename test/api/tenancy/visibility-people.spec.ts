import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

type Person = { id: string };
let a: PeopleFixture;
let b: PeopleFixture;

const api = await TestApi.shared();
const { make } = api;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

async function list(path: string, key: string): Promise<Person[]> {
  const answer = await api.get(path, key);
  const { data, meta } = answer.body as { data: Person[]; meta: object };
  // The total counts only visible people.
  expect(meta).toEqual({ limit: 20, offset: 0, count: data.length, total: data.length });
  return data;
}

const ids = async (path: string, key: string): Promise<string[]> => (await list(path, key)).map(({ id }) => id);

describe('parents', () => {
  it('are visible where they have a child, with only their children there', async () => {
    const [childA, childB] = [await make.student(a.id), await make.student(b.id)];
    const parent = await make.parent(a.id, { children: [childA.id] });
    await make.parent(b.id, { user: parent, children: [childB.id] });
    for (const [{ key }, child] of [
      [a, childA],
      [b, childB],
    ] as const) {
      const shown = { id: parent.id, student_ids: [child.id], email: parent.email, status: 'accepted' };
      expect(await list('/v1/parents', key)).toMatchObject([shown]);
      expect((await api.get(`/v1/parents/${parent.id}`, key)).body).toMatchObject(shown);
    }
  });

  it('are invisible without a child, even to the organization that added them', async () => {
    const parent = await make.parent(a.id);
    await make.parent(b.id, { user: parent, children: [(await make.student(b.id)).id] });
    expect(await ids('/v1/parents', a.key)).toEqual([]);
    expect(await ids('/v1/parents', b.key)).toEqual([parent.id]);
    for (const path of [`/v1/parents/${parent.id}`, `/v1/parents/${parent.id}/balance`]) {
      expect((await api.get(path, a.key)).status).toBe(404);
      expect((await api.get(path, b.key)).status).toBe(200);
    }
  });

  it('appear and disappear with their links, enrolled since the first one', async () => {
    const [first, second] = [await make.student(a.id), await make.student(a.id)];
    const parent = await make.parent(a.id);
    const read = async () => (await api.get(`/v1/parents/${parent.id}`, a.key)).body as object;
    await make.link(a.id, parent.id, second.id, { linkedAt: new Date('2026-03-05T00:00:00Z') });
    expect(await read()).toMatchObject({ student_ids: [second.id], enrolled_at: '2026-03-05T00:00:00.000Z' });
    await make.link(a.id, parent.id, first.id, { linkedAt: new Date('2026-03-01T00:00:00Z') });
    expect(await read()).toMatchObject({ student_ids: [first.id, second.id], enrolled_at: '2026-03-01T00:00:00.000Z' });
    await make.query('DELETE FROM parent_students WHERE student_id = $1', [second.id]);
    expect(await read()).toMatchObject({ student_ids: [first.id] });
    await make.query('DELETE FROM parent_students WHERE student_id = $1', [first.id]);
    expect(await read()).toMatchObject({ error: { code: 'not_found' } });
    expect(await ids('/v1/parents', a.key)).toEqual([]);
  });

  it('of archived children stay visible', async () => {
    const child = await make.student(a.id);
    const parent = await make.parent(a.id, { children: [child.id] });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [child.id]);
    expect(await list('/v1/parents', a.key)).toMatchObject([{ id: parent.id, student_ids: [child.id] }]);
  });
});

describe('a pending member', () => {
  const login = { firstName: 'Secret', lastName: 'Person', email: 'Secret.Person@example.org', phone: '0400 000 000' };
  const supplied = { suppliedFirstName: 'Mia', suppliedLastName: 'Nguyen', suppliedEmail: 'mia@example.org' };

  /** Creates the person in each role as pending, and returns their rows in every list. */
  async function shown(given: Partial<typeof supplied>): Promise<{ text: string; rows: Person[] }> {
    const user = { ...login, email: `${Math.random()}.${login.email}` };
    const wish = { status: 'pending' as const, ...given, user };
    const student = await make.student(a.id);
    const people = [
      await make.tutor(a.id, wish),
      await make.student(a.id, { ...wish, user: { ...user, email: `s.${user.email}` } }),
      await make.parent(a.id, { ...wish, user: { ...user, email: `p.${user.email}` }, children: [student.id] }),
    ];
    const answers = await Promise.all(['tutors', 'students', 'parents'].map((path) => api.get(`/v1/${path}`, a.key)));
    const parent = await api.get(`/v1/parents/${people[2]!.id}`, a.key);
    const rows = answers.flatMap(({ body }) => (body as { data: Person[] }).data);
    return {
      text: [...answers, parent].map(({ text }) => text).join(),
      rows: [...rows.filter(({ id }) => people.some((person) => person.id === id)), parent.body as Person],
    };
  }

  it.each([
    ['what the organization supplied', supplied, { first_name: 'Mia', last_name: 'Nguyen', email: 'mia@example.org' }, 'Mia Nguyen'],
    ['null where it supplied nothing', {}, { first_name: null, last_name: null, email: null }, null],
  ])('shows only %s', async (_, given, names, full_name) => {
    const { text, rows } = await shown(given);
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toMatchObject({ ...names, status: 'pending' });
    expect(rows[0]).toMatchObject({ full_name });
    expect(text).not.toMatch(/secret|person@|0400/i);
  });

  it('shows their own profile after accepting', async () => {
    const { id } = await make.student(a.id, { ...supplied, status: 'pending', user: { firstName: 'Own', lastName: 'Name' } });
    expect(await list('/v1/students', a.key)).toMatchObject([{ id, first_name: 'Mia' }]);
    for (const status of ['accepted', 'archived']) {
      await make.query('UPDATE members SET status = $2 WHERE user_id = $1', [id, status]);
      expect(await list('/v1/students', a.key)).toMatchObject([{ id, first_name: 'Own', last_name: 'Name', status }]);
    }
  });
});

describe('a placeholder address', () => {
  it('is shown as null, with its flag set', async () => {
    const user = () => ({ placeholderEmail: true, email: `nobody-${Math.random()}@placeholder.invalid` });
    const child = await make.student(a.id, { user: user() });
    await make.tutor(a.id, { user: user() });
    const parent = await make.parent(a.id, { user: user(), children: [child.id] });
    for (const path of ['/v1/tutors', '/v1/students', '/v1/parents', `/v1/parents/${parent.id}`]) {
      const answer = await api.get(path, a.key);
      const body = answer.body as { data?: object[] };
      expect(body.data?.[0] ?? body).toMatchObject({ email: null, placeholder_email: true });
      expect(answer.text).not.toContain('placeholder.invalid');
    }
  });
});

describe('tutors', () => {
  it('show each organization’s own profile and subjects', async () => {
    const tutor = await make.tutor(a.id, { profile: { bio: 'In A', isPublished: true, handle: 'ada' } });
    await make.tutor(b.id, { user: tutor, role: 'owner', profile: { bio: 'In B', handle: 'ada' } });
    const [maths, art] = [await make.subject(a.id, { name: 'Maths' }), await make.subject(a.id, { name: 'Art' })];
    for (const { id } of [maths, art]) await make.tutorSubject(a.id, tutor.id, id);
    const person = { id: tutor.id, full_name: 'Ada Lovelace' };
    const subjects = { subjects: ['Art', 'Maths'], tutor_subjects: [art.id, maths.id] };
    expect(await list('/v1/tutors', a.key)).toMatchObject([{ ...person, ...subjects, bio: 'In A', is_published: true }]);
    expect(await list('/v1/tutors', b.key)).toMatchObject([{ ...person, subjects: [], bio: 'In B', is_published: false }]);
  });
});

describe('students', () => {
  it('are the members with that role, in every status, with their parents in this organization', async () => {
    const student = await make.student(a.id);
    const archived = await make.student(a.id, { status: 'archived' });
    await make.tutor(a.id);
    await make.member(a.id, { role: 'admin' });
    await make.student(b.id, { user: student });
    const parent = await make.parent(a.id, { children: [student.id] });
    await make.parent(b.id, { children: [student.id] });
    const expected = [
      { id: archived.id, parent_ids: [], status: 'archived' },
      { id: student.id, parent_ids: [parent.id], status: 'accepted' },
    ];
    expect(await list('/v1/students', a.key)).toMatchObject(expected);
    expect((await list('/v1/students', b.key)).map(({ id }) => id)).toEqual([student.id]);
  });
});
