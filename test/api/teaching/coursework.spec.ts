import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

type Answer = { id: string; detail?: { loc: string[] }[]; error?: { code: string; details: object } } & Record<string, unknown>;

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const key = await api.key(school, { scopes: ['read', 'write', 'sessions:write'] });
const otherKey = await api.key(other, { scopes: ['read', 'write', 'sessions:write'] });
const owner = await make.member(school, { role: 'owner' });
const [tutor, student] = [await make.tutor(school), await make.student(school)];
await make.session(school, { studentId: student.id });

async function send(method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, as = key) {
  const answer = await supertest(api.server)[method](`/v1/${path}`).set('Authorization', `Token token=${as}`).send(body);
  return { status: answer.status, body: answer.body as Answer };
}
/** The answer's status, with the fields that it refuses or its code. */
const outcome = ({ status, body }: Awaited<ReturnType<typeof send>>) =>
  [status, ...(body.detail ?? []).map(({ loc }) => loc.at(-1)), ...(body.error ? [body.error.code] : [])]; // prettier-ignore

describe('homework', () => {
  const wish = { title: 'Surds', homework_type: 'text', scope: 'student', student_id: student.id };

  it('is set by the first owner for exactly the target of its scope, and listed', async () => {
    const files = [{ name: 'Sheet', url: 'https://example.org/sheet.pdf' }];
    const { status, body } = await send('post', 'homework', { ...wish, files, due_date: '2026-05-08T06:00:00Z' });
    expect([status, body]).toMatchObject([201, { ...wish, files, assigned_by: owner.id, due_date: '2026-05-08T06:00:00.000Z' }]);
    expect((await send('get', 'homework?limit=1')).body.data).toEqual([body]);
    const room = (await make.classroom(school)).id;
    expect(outcome(await send('post', 'homework', { ...wish, classroom_id: room }))).toEqual([422, 'classroom_id']);
    expect(outcome(await send('post', 'homework', { ...wish, scope: 'group' }))).toEqual([422, 'group_id', 'student_id']);
    expect(outcome(await send('patch', `homework/${body.id}`, { scope: 'classroom' }))).toEqual([422, 'classroom_id']);
    const moved = await send('patch', `homework/${body.id}`, { scope: 'classroom', classroom_id: room });
    expect(moved.body).toEqual({ ...body, scope: 'classroom', classroom_id: room, student_id: null });
    expect((await send('delete', `homework/${body.id}`)).status).toBe(204);
  });

  it('names only people and classes of the organization, in their roles', async () => {
    for (const wrong of [{ student_id: (await make.student(other)).id }, { assigned_by: (await make.tutor(other)).id }])
      expect(outcome(await send('post', 'homework', { ...wish, ...wrong }))).toEqual([404, 'not_found']);
    const room = { scope: 'classroom', student_id: null, classroom_id: (await make.classroom(other)).id };
    const group = { scope: 'group', student_id: null, group_id: (await make.group(other)).id };
    for (const wrong of [room, group]) expect(outcome(await send('post', 'homework', { ...wish, ...wrong }))).toEqual([404, 'not_found']);
    expect(outcome(await send('post', 'homework', { ...wish, student_id: tutor.id }))).toEqual([422, 'student_id']);
    expect(outcome(await send('post', 'homework', { ...wish, assigned_by: student.id }))).toEqual([422, 'assigned_by']);
  });

  it('that would belong to nobody, or to another organization, is refused; a relation here says whose it is', async () => {
    const [busy, child] = [await make.tutor(school), await make.student(school)];
    for (const person of [busy, child]) await make.member(other, { user: { id: person.id }, role: person === busy ? 'tutor' : 'student' });
    const both = { ...wish, student_id: child.id, assigned_by: busy.id };
    expect(outcome(await send('post', 'homework', both))).toEqual([422, 'assigned_by']);
    await make.tutorStudent(other, busy.id, child.id);
    expect(outcome(await send('post', 'homework', both))).toEqual([422, 'assigned_by']);
    await make.tutorStudent(school, busy.id, child.id);
    const { status, body } = await send('post', 'homework', both);
    expect(status).toBe(201);
    expect(outcome(await send('get', `homework/${body.id}`, undefined, otherKey))).toEqual([404, 'not_found']);
  });

  it('with an attempt is not deleted, and other organizations cannot touch it', async () => {
    const { body } = await send('post', 'homework', wish);
    for (const method of ['get', 'patch', 'delete'] as const)
      expect(outcome(await send(method, `homework/${body.id}`, {}, otherKey))).toEqual([404, 'not_found']);
    const attempt = await send('post', 'results', { student_id: student.id, mode: 'homework', homework_assignment_id: body.id });
    expect(attempt.status).toBe(201);
    const refused = await send('delete', `homework/${body.id}`);
    expect([outcome(refused), refused.body.error!.details]).toEqual([[409, 'still_referenced'], { referenced_by: 'results' }]);
  });
});

describe('an attempt at homework', async () => {
  const set = { title: 'Surds', homework_type: 'text' };
  const [ann, ben] = [await make.student(school), await make.student(school)];
  for (const { id } of [ann, ben]) await make.session(school, { studentId: id });
  const room = (await make.classroom(school)).id;
  const group = (await make.group(school)).id;
  await make.classroomMember(school, room, ann.id);
  await make.groupMember(group, ann.id);
  const targets = [
    { scope: 'student', student_id: ann.id },
    { scope: 'classroom', classroom_id: room },
    { scope: 'group', group_id: group },
  ];
  const attempt = (homework: string, more: object = {}) =>
    send('post', 'results', { student_id: ann.id, mode: 'homework', homework_assignment_id: homework, ...more });

  it.each(targets)('of the scope $scope is one of whom it was set for, one of each, and says so', async (target) => {
    const { body: homework } = await send('post', 'homework', { ...set, ...target });
    expect(outcome(await attempt(homework.id, { mode: 'sac' }))).toEqual([422, 'mode']);
    expect(outcome(await attempt(homework.id, { student_id: ben.id }))).toEqual([422, 'homework_assignment_id']);
    const all = await Promise.all(Array.from({ length: 5 }, () => attempt(homework.id)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
    expect(outcome(await attempt(homework.id))).toEqual([422, 'homework_assignment_id']);
  });

  it.each(targets)('keeps it of the scope $scope for whom it was set', async (target) => {
    const { body: homework } = await send('post', 'homework', { ...set, ...target });
    await attempt(homework.id);
    const other = { classroom_id: (await make.classroom(school)).id, group_id: (await make.group(school)).id, student_id: ben.id };
    for (const scope of ['student', 'classroom', 'group'] as const) {
      const refused = await send('patch', `homework/${homework.id}`, { scope, [`${scope}_id`]: other[`${scope}_id`] });
      expect([outcome(refused), refused.body.error?.details]).toEqual([[409, 'still_referenced'], { referenced_by: 'results' }]);
    }
    expect((await send('patch', `homework/${homework.id}`, { ...target, title: 'Surds again' })).status).toBe(200);
  });
});

describe('results', () => {
  const wish = { student_id: student.id, mode: 'sac' };

  it('go from state to state, one after the other, and are graded when completed', async () => {
    const { status, body } = await send('post', 'results', wish);
    expect([status, body]).toMatchObject([201, { ...wish, status: 'not_started', grade: null, started_at: null, completed_at: null }]);
    const step = (change: object) => send('patch', `results/${body.id}`, change);
    expect(outcome(await step({ status: 'submitted' }))).toEqual([409, 'invalid_state']);
    expect(outcome(await step({ grade: 90 }))).toEqual([422, 'grade']);
    const begun = await step({ status: 'in_progress' });
    expect(begun.body.started_at).toEqual(expect.any(String));
    expect(outcome(await step({ status: 'not_started' }))).toEqual([409, 'invalid_state']);
    expect((await step({ status: 'submitted' })).status).toBe(200);
    const done = await step({ status: 'completed', grade: 90 });
    expect([done.status, done.body]).toMatchObject([
      200,
      { grade: 90, started_at: begun.body.started_at, completed_at: expect.any(String) as string },
    ]);
    expect(outcome(await step({ completed_at: null }))).toEqual([422, 'completed_at']);
    expect((await step({ grade: 91 })).body).toEqual({ ...done.body, grade: 91 });
    expect((await send('get', `results/${body.id}`)).body).toEqual({ ...done.body, grade: 91 });
    expect(((await send('get', 'results?limit=1')).body.data as Answer[])[0]).toEqual({ ...done.body, grade: 91 });
  });

  it('show a key that may not read what it decided, and nothing that was there', async () => {
    const { body } = await send('post', 'results', wish);
    const narrow = await api.key(school, { scopes: ['coursework:write'] });
    const begun = await send('patch', `results/${body.id}`, { status: 'in_progress' }, narrow);
    const shown = Object.fromEntries(Object.entries(begun.body).filter(([, value]) => value !== null));
    expect(shown).toEqual({ id: body.id, status: 'in_progress', started_at: expect.any(String) as string, masked: true });
  });

  it('can be entered whole; times are past, and in order', async () => {
    const whole = { ...wish, status: 'completed', grade: 70, started_at: '2026-03-01T09:00:00.000Z', completed_at: '2026-03-01T10:00:00.000Z' };
    expect((await send('post', 'results', whole)).body).toMatchObject(whole);
    expect(outcome(await send('post', 'results', { ...whole, completed_at: '2026-02-01T10:00:00Z' }))).toEqual([422, 'completed_at']);
    expect(outcome(await send('post', 'results', { ...whole, completed_at: '2126-02-01T10:00:00Z' }))).toEqual([422, 'completed_at']);
    expect(outcome(await send('post', 'results', { ...wish, grade: 70, completed_at: whole.completed_at }))).toEqual([422, 'grade', 'completed_at']);
  });

  it('are of students with a session here, and of homework of this organization', async () => {
    const fresh = await make.student(school);
    expect(outcome(await send('post', 'results', { ...wish, student_id: fresh.id }))).toEqual([422, 'student_id']);
    expect(outcome(await send('post', 'results', { ...wish, student_id: (await make.student(other)).id }))).toEqual([404, 'not_found']);
    const theirs = await make.homework((await make.tutor(other)).id, { scope: 'classroom', classroomId: (await make.classroom(other)).id });
    expect(outcome(await send('post', 'results', { ...wish, homework_assignment_id: theirs.id }))).toEqual([404, 'not_found']);
  });

  it('are changed only by the organization that made them, which keeps them when the student leaves', async () => {
    const shared = await make.student(school);
    await make.member(other, { user: { id: shared.id } });
    for (const id of [school, other]) await make.session(id, { studentId: shared.id });
    const { body } = await send('post', 'results', { ...wish, student_id: shared.id, status: 'submitted' });
    expect((await send('get', `results/${body.id}`, undefined, otherKey)).body).toEqual(body);
    expect(outcome(await send('patch', `results/${body.id}`, { status: 'completed' }, otherKey))).toEqual([404, 'not_found']);
    const imported = await make.result(shared.id, { status: 'in_progress' });
    expect(outcome(await send('patch', `results/${imported.id}`, { status: 'submitted' }))).toEqual([404, 'not_found']);
    const leave = await api.key(school, { scopes: ['accounts:write'] });
    expect((await send('post', `students/${shared.id}/offboard`, {}, leave)).status).toBe(200);
    expect((await send('patch', `results/${body.id}`, { status: 'completed', grade: 55 })).status).toBe(200);
    expect((await send('get', `results/${body.id}`)).body).toMatchObject({ status: 'completed', grade: 55 });
    expect((await send('get', `results/${imported.id}`)).status).toBe(404);
  });
});

describe('feedback on a session', () => {
  const taught = async (status: 'completed' | 'scheduled' = 'completed') => {
    const child = await make.student(school);
    const session = await make.session(school, { tutorId: tutor.id, status });
    await make.participant(school, session.id, child.id, { status: 'accepted' });
    return { child, session_id: session.id };
  };

  it('comes once from each who takes part, and from their linked parents, about the tutor', async () => {
    const { child, session_id } = await taught();
    const parent = await make.parent(school, { children: [child.id] });
    const said = { session_id, rating: 4, comment: 'Kind', positive_tags: ['patient'], is_public: true };
    for (const [reviewer, role] of [[child, 'student'], [parent, 'parent']] as const) {
      const { status, body } = await send('post', 'session-feedback', { ...said, reviewer_id: reviewer.id });
      expect([status, body]).toMatchObject([201, { ...said, tutor_id: tutor.id, reviewer_role: role, reviewer_name: 'Ada Lovelace' }]);
      expect((await send('get', `session-feedback/${body.id}`)).body).toEqual(body);
      expect((await send('get', `session-feedback/${body.id}`, undefined, otherKey)).status).toBe(404);
      expect(outcome(await send('post', 'session-feedback', { ...said, reviewer_id: reviewer.id }))).toEqual([422, 'reviewer_id']);
    } // prettier-ignore
  });

  it('is refused from strangers, and on a session that is not completed', async () => {
    const { child, session_id } = await taught();
    const wish = { session_id, rating: 4 };
    const [absent, unlinked] = [await make.student(school), await make.parent(school, { children: [student.id] })];
    for (const reviewer of [absent, unlinked, tutor])
      expect(outcome(await send('post', 'session-feedback', { ...wish, reviewer_id: reviewer.id }))).toEqual([422, 'reviewer_id']);
    const theirs = { session_id: (await make.session(other, { status: 'completed' })).id, rating: 4, reviewer_id: child.id };
    for (const wrong of [theirs, { ...wish, reviewer_id: (await make.student(other)).id }])
      expect(outcome(await send('post', 'session-feedback', wrong))).toEqual([404, 'not_found']);
    const ahead = await taught('scheduled');
    const early = { session_id: ahead.session_id, rating: 4, reviewer_id: ahead.child.id };
    expect(outcome(await send('post', 'session-feedback', early))).toEqual([422, 'session_id']);
  });

  it('is made public by its author alone, and taken back by the organization', async () => {
    const { child, session_id } = await taught();
    const { body } = await send('post', 'session-feedback', { session_id, rating: 5, reviewer_id: child.id, is_public: true });
    const one = `session-feedback/${body.id}`;
    expect((await send('patch', one, { is_public: true })).body).toEqual(body);
    expect((await send('patch', one, { is_public: false })).body).toEqual({ ...body, is_public: false });
    expect(outcome(await send('patch', one, { is_public: true }))).toEqual([422, 'is_public']);
    expect(outcome(await send('patch', one, { rating: 1 }))).toEqual([422, 'rating']);
    expect(outcome(await send('patch', one, { is_public: false }, otherKey))).toEqual([404, 'not_found']);
  });
});

it('questions of catalogues can be read, and are nobody’s to change or delete', async () => {
  const { id } = await make.row('questions', { catalogue: 'vcaa', topic: 'Surds' });
  expect((await send('get', `questions/${id}`)).body).toMatchObject({ id, source: 'vcaa' });
  for (const method of ['patch', 'delete'] as const)
    expect(outcome(await send(method, `questions/${id}`, method === 'patch' ? { topic: 'Mine' } : undefined))).toEqual([404, 'not_found']);
});
