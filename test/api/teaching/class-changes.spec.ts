import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

type Answer = { id: string; detail?: { loc: string[] }[]; error?: { code: string } } & Record<string, unknown>;

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const key = await api.key(school, { scopes: ['read', 'write', 'sessions:write', 'accounts:write'] });
const otherKey = await api.key(other, { scopes: ['read', 'write'] });
const [tutor, successor] = [await make.tutor(school), await make.tutor(school)];
const SOON = new Date(Date.now() + 7 * 86_400_000);
const at = { startsAt: new Date(SOON.setSeconds(0, 0)), endsAt: new Date(SOON.getTime() + 3_600_000) };

async function send(method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, as = key) {
  const answer = await supertest(api.server)[method](`/v1/${path}`).set('Authorization', `Token token=${as}`).send(body);
  return { status: answer.status, body: answer.body as Answer };
}
const outcome = ({ status, body }: Awaited<ReturnType<typeof send>>) =>
  [status, ...(body.detail ?? []).map(({ loc }) => loc.at(-1)), ...(body.error ? [body.error.code] : [])]; // prettier-ignore
const idsIn = async (path: string) => ((await send('get', path)).body.data as Answer[]).map(({ id }) => id);

/**
 * What `/v1/classrooms/:classroom_id` and `/v1/groups/:group_id` do, and below them `/v1/classrooms/:classroom_id/students/:student_id`,
 * `/v1/classrooms/:classroom_id/tutors/:tutor_id`, `/v1/groups/:group_id/students/:student_id` and `/v1/groups/:group_id/tutors/:tutor_id`.
 */
describe.each([
  { kind: 'classroom', writes: 'classrooms', reads: 'classrooms', field: 'classroomId', leads: 'teacher' },
  { kind: 'group', writes: 'groups', reads: 'student-groups', field: 'groupId', leads: 'tutor' },
] as const)('a $kind', ({ kind, writes, reads, field, leads }) => {
  const opened = async () => (await send('post', writes, { name: 'Methods', tutor_id: tutor.id })).body;
  const members = async (id: string) =>
    ((await send('get', `${writes}/${id}/members`)).body.data as Answer[]).map(({ user_id, role }) => [user_id, role]);
  const lessonOf = async (id: string, wish: object = {}) => (await make.session(school, { [field]: id, tutorId: tutor.id, ...at, ...wish })).id;
  const places = async (session: string) =>
    Object.fromEntries((await make.query<{ student_id: string; status: string }>(
      'SELECT student_id, status FROM lesson_participants WHERE session_id = $1', [session],
    )).map(({ student_id, status }) => [student_id, status])); // prettier-ignore

  it('is changed, and handed over to a tutor who gets a place', async () => {
    const { id, ...before } = await opened();
    const { status, body } = await send('patch', `${writes}/${id}`, { name: 'Specialist', tutor_id: successor.id });
    expect([status, body]).toMatchObject([200, { id, name: 'Specialist', tutor_id: successor.id, is_archived: false }]);
    expect(body).toEqual({ ...before, id, name: 'Specialist', tutor_id: successor.id, updated_at: body.updated_at });
    expect((await send('get', `${reads}/${id}`)).body).toEqual(body);
    expect(await members(id)).toEqual([
      [tutor.id, leads],
      [successor.id, leads],
    ]);
    const student = await make.student(school);
    expect(outcome(await send('patch', `${writes}/${id}`, { tutor_id: student.id }))).toEqual([422, 'tutor_id']);
    expect(outcome(await send('patch', `${writes}/${id}`, { tutor_id: (await make.tutor(other)).id }))).toEqual([404, 'not_found']);
    for (const [method, path] of [
      ['patch', ''],
      ['delete', ''],
      ['get', '/members'],
    ] as const)
      expect(outcome(await send(method, `${writes}/${id}${path}`, method === 'patch' ? {} : undefined, otherKey))).toEqual([404, 'not_found']);
    expect((await send('delete', `${writes}/${id}/tutors/${successor.id}`)).status).toBe(204);
    expect((await send('get', `${reads}/${id}`)).body.tutor_id).toBeNull();
    expect(outcome(await send('delete', `${writes}/${id}/tutors/${successor.id}`))).toEqual([404, 'not_found']);
  });

  it('that is archived is left out of lists, keeps its id, and nothing new names it; brought back, it is as before', async () => {
    const { id, join_code } = await opened();
    const invite = await send('post', 'invites', { scope: kind, [`${kind}_id`]: id });
    expect(invite.status).toBe(201);
    for (let time = 0; time < 2; time++) expect((await send('delete', `${writes}/${id}`)).status).toBe(204);
    expect(await idsIn(`${reads}?limit=100`)).not.toContain(id);
    expect(await idsIn(`${reads}?limit=100&include_archived=true`)).toContain(id);
    expect((await send('get', `${reads}/${id}`)).body).toMatchObject({ id, is_archived: true });
    const alive = () => make.query('SELECT id FROM invites WHERE target_id = $1 AND revoked_at IS NULL', [id]);
    expect(await alive()).toEqual([]);
    const student = await make.student(school);
    const naming = { [`${kind}_id`]: id };
    const wishes = [
      send('post', `${writes}/${id}/students`, { user_id: student.id }),
      send('post', 'invites', { scope: kind, ...naming }),
      send('post', 'homework', { title: 'Surds', homework_type: 'text', scope: kind, assigned_by: tutor.id, ...naming }),
      send('post', 'lesson-plans', { title: 'Surds', scope: kind, ...naming }),
      send('post', 'sessions', { tutor_id: tutor.id, starts_at: at.startsAt, duration_minutes: 60, ...naming }),
    ];
    for (const wish of wishes) expect(outcome(await wish)).toEqual([404, 'not_found']);
    const { body } = await send('patch', `${writes}/${id}`, { is_archived: false });
    expect(body.is_archived).toBe(false);
    expect(await idsIn(`${reads}?limit=100`)).toContain(id);
    if (kind === 'classroom') expect([typeof body.join_code, body.join_code === join_code]).toEqual(['string', false]);
    expect((await send('post', `${writes}/${id}/students`, { user_id: student.id })).status).toBe(200);
  });

  it('has lessons ahead that its students follow, in and out, at the price of newcomers', async () => {
    const { id } = await opened();
    const [ann, ben] = [await make.student(school), await make.student(school)];
    const ahead = await lessonOf(id, { studentRateGiven: true, studentRateCents: 4000, setRateCents: 4000 });
    const done = await lessonOf(id, { startsAt: new Date('2026-03-02T09:00:00Z'), endsAt: new Date('2026-03-02T10:00:00Z') });
    const off = await lessonOf(id, { status: 'cancelled' });
    for (const { id: user_id } of [ann, ben]) expect((await send('post', `${writes}/${id}/students`, { user_id })).status).toBe(200);
    expect(await places(ahead)).toEqual({ [ann.id]: 'accepted', [ben.id]: 'accepted' });
    for (const lesson of [done, off]) expect(await places(lesson)).toEqual({});
    expect(await make.query('SELECT DISTINCT rate_cents::int FROM lesson_participants WHERE session_id = $1', [ahead])).toEqual([
      { rate_cents: 4000 },
    ]);
    expect((await send('delete', `${writes}/${id}/students/${ann.id}`)).status).toBe(204);
    expect(await places(ahead)).toEqual({ [ann.id]: 'removed', [ben.id]: 'accepted' });
    expect(await members(id)).toEqual([
      [tutor.id, leads],
      [ben.id, 'student'],
    ]);
    expect(outcome(await send('delete', `${writes}/${id}/students/${ann.id}`))).toEqual([404, 'not_found']);
    expect(outcome(await send('delete', `${writes}/${id}/students/${ben.id}`, undefined, otherKey))).toEqual([404, 'not_found']);
    await make.query(`UPDATE lesson_participants SET status = 'declined' WHERE session_id = $1 AND student_id = $2`, [ahead, ben.id]);
    for (const { id: user_id } of [ann, ben]) await send('post', `${writes}/${id}/students`, { user_id });
    expect(await places(ahead)).toEqual({ [ann.id]: 'accepted', [ben.id]: 'declined' });
  });
});

it('a key that may not read codes is not shown one by changing its classroom', async () => {
  const { id, join_code } = (await send('post', 'classrooms', { name: 'Methods' })).body;
  expect(join_code).toEqual(expect.any(String));
  const blind = await api.key(school, { scopes: ['read', 'tutors:write'] });
  expect((await send('patch', `classrooms/${id}`, { name: 'Secret' }, blind)).body).toMatchObject({ name: 'Secret', join_code: null });
  // One that it makes itself, as anybody who brings a classroom back.
  await send('patch', `classrooms/${id}`, { is_archived: true }, blind);
  const back = (await send('patch', `classrooms/${id}`, { is_archived: false }, blind)).body;
  expect([typeof back.join_code, back.join_code === join_code]).toEqual(['string', false]);
  expect((await send('get', `classrooms/${id}`, undefined, blind)).body.join_code).toBeNull();
});

/** `/v1/tutors/:tutor_id/students` and `/v1/tutors/:tutor_id/students/:student_id` */
describe('the students of a tutor', () => {
  it('are related once for each subject, listed, and parted', async () => {
    const [student, subject] = [await make.student(school), await make.subject(school)];
    const path = `tutors/${tutor.id}/students`;
    const plain = await send('post', path, { student_id: student.id });
    expect([plain.status, plain.body]).toMatchObject([201, { tutor_id: tutor.id, student_id: student.id, subject_id: null }]);
    const again = await send('post', path, { student_id: student.id });
    expect([again.status, again.body]).toEqual([200, plain.body]);
    const second = await send('post', path, { student_id: student.id, subject_id: subject.code });
    expect([second.status, second.body.subject_id]).toEqual([201, subject.id]);
    expect(await idsIn(path)).toEqual([second.body.id, plain.body.id]);
    expect(outcome(await send('get', path, undefined, otherKey))).toEqual([404, 'not_found']);
    expect(outcome(await send('delete', `${path}/${student.id}`, undefined, otherKey))).toEqual([404, 'not_found']);
    expect((await send('delete', `${path}/${student.id}`)).status).toBe(204);
    expect(await idsIn(path)).toEqual([]);
    expect(outcome(await send('delete', `${path}/${student.id}`))).toEqual([404, 'not_found']);
    const back = await send('post', path, { student_id: student.id });
    expect([back.status, back.body.id]).toEqual([201, plain.body.id]);
  });

  it('are accepted students, and tutors teach', async () => {
    const [student, theirs] = [await make.student(school), await make.student(other)];
    expect(outcome(await send('post', `tutors/${tutor.id}/students`, { student_id: theirs.id }))).toEqual([404, 'not_found']);
    expect(outcome(await send('post', `tutors/${tutor.id}/students`, { student_id: successor.id }))).toEqual([422, 'student_id']);
    expect(outcome(await send('post', `tutors/${student.id}/students`, { student_id: student.id }))).toEqual([404, 'not_found']);
  });
});
