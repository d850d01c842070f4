import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { Vault } from '@app/config';
import { acting } from '../../support/portal/acting.js';
import { JoinFixture, newcomer } from '../../support/portal/join-fixture.js';

const CODE = /^[2-9A-HJKMNP-Z]{12}$/;

const desk = await JoinFixture.shared();
const { api } = desk;
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const keyOf = (id: string) => api.key(id, { scopes: ['read', 'accounts:write', 'tutors:write'] });
const [key, otherKey] = [await keyOf(school), await keyOf(other)];

type Record = { id: string } & { [Field in string]: unknown };

async function post(path: string, body: object, as = key) {
  const answer = await supertest(api.server).post(path).set('Authorization', `Token token=${as}`).send(body);
  return { status: answer.status, body: answer.body as Record & { detail?: { loc: unknown; type: string }[] } };
}
const read = async (path: string) => (await api.get(path, key)).body as Record;
const listed = async (path: string) => ((await read(path)).data as Record[]).map(({ id }) => id);

describe('POST /v1/classrooms', () => {
  it('creates a classroom with a name alone, and shows the same everywhere', async () => {
    const { status, body } = await post('/v1/classrooms', { name: ' Methods ' });
    const empty = { tutor_id: null, subject_id: null, price_cents: null, billing_interval: null, group_id: null };
    expect([status, body]).toMatchObject([201, { name: 'Methods', ...empty, join_code: expect.stringMatching(CODE) as string }]);
    expect(await read(`/v1/classrooms/${body.id}`)).toEqual(body);
    expect(((await read('/v1/classrooms')).data as Record[])[0]).toEqual(body);
    expect((await api.get(`/v1/classrooms/${body.id}`, otherKey)).status).toBe(404);
    // Whoever makes the code sees it then; later only a key that could invite, too.
    const made = await post('/v1/classrooms', { name: 'Physics' }, await api.key(school, { scopes: ['tutors:write'] }));
    expect(made.body.join_code).toMatch(CODE);
    const reader = await api.key(school, { scopes: ['read', 'write'] });
    expect((await api.get(`/v1/classrooms/${body.id}`, reader)).body).toEqual({ ...body, join_code: null });
    const codes = ((await api.get('/v1/classrooms', reader)).body as { data: Record[] }).data.map(({ join_code }) => join_code);
    expect(new Set(codes)).toEqual(new Set([null]));
  });

  it('stores every field, with the tutor as its teacher and the subject by id or code', async () => {
    const tutor = await make.tutor(school);
    const subject = await make.subject(school, { name: 'Methods' });
    const wish = { name: 'Year 12', tutor_id: tutor.id, price_cents: 12000, billing_interval: 'term' };
    for (const named of [subject.id, 'methods']) {
      const { status, body } = await post('/v1/classrooms', { ...wish, subject_id: named });
      expect([status, body]).toMatchObject([201, { ...wish, subject_id: subject.id }]);
      const places = await make.query('SELECT user_id, role FROM classroom_members WHERE classroom_id = $1', [body.id]);
      expect(places).toEqual([{ user_id: tutor.id, role: 'teacher' }]);
      expect(await listed(`/v1/classrooms?subject_id=${named}`)).toContain(body.id);
    }
    expect(await listed('/v1/classrooms?subject_id=unheard_of')).toEqual([]);
  });

  it('has a price for something: without its interval it is refused, also by a change', async () => {
    const refused = { status: 422, body: { detail: [{ loc: ['body', 'billing_interval'] }] } };
    expect(await post('/v1/classrooms', { name: 'Priced', price_cents: 12000 })).toMatchObject(refused);
    const { id } = (await post('/v1/classrooms', { name: 'Priced', price_cents: 12000, billing_interval: 'term' })).body;
    const patch = async (body: object) => {
      const answer = await supertest(api.server).patch(`/v1/classrooms/${id}`).set('Authorization', `Token token=${key}`).send(body);
      return { status: answer.status, body: answer.body as Record };
    };
    expect(await patch({ billing_interval: null })).toMatchObject(refused);
    expect(await patch({ billing_interval: null, price_cents: null })).toMatchObject({ status: 200, body: { price_cents: null } });
    expect(await patch({ price_cents: 1 })).toMatchObject(refused);
  });

  it('its join code admits students until it is revoked or expires, and is stored encrypted', async () => {
    const { body } = await post('/v1/classrooms', { name: 'Open' });
    const path = `/v1/classrooms/${body.id}`;
    const joined = await desk.joined(String(body.join_code), null, newcomer());
    const places = await make.query('SELECT user_id, role FROM classroom_members WHERE classroom_id = $1', [body.id]);
    expect(places).toEqual([{ user_id: joined, role: 'student' }]);
    const rows = await make.query('SELECT * FROM invites WHERE target_id = $1', [body.id]);
    expect(rows).toMatchObject([{ scope: 'classroom', role: 'student', standing: false, email: null }]);
    expect(JSON.stringify(rows)).not.toContain(body.join_code);
    expect(api.app.get(Vault).open('join codes', rows[0]!.sealed as Buffer)).toBe(body.join_code);
    // The newest valid code counts, also one made by an invite; one for a single person is nobody else's.
    await sleep(2);
    const invite = (await post('/v1/invites', { scope: 'classroom', classroom_id: body.id })).body;
    await post('/v1/invites', { scope: 'classroom', classroom_id: body.id, email: 'mia@example.org' });
    expect((await read(path)).join_code).toBe(invite.token);
    await make.query('UPDATE invites SET revoked_at = now() WHERE id = $1', [invite.id]);
    expect((await read(path)).join_code).toBe(body.join_code);
    await make.query('UPDATE invites SET expires_at = now() WHERE target_id = $1', [body.id]);
    expect((await read(path)).join_code).toBeNull();
  });

  it.each(['classroom', 'group'] as const)('whoever joins a %s by its code takes part in its lessons ahead, once they are approved', async (kind) => {
    const tutor = await make.tutor(school);
    const { body: room } = await post(`/v1/${kind}s`, { name: 'Open', tutor_id: tutor.id });
    const { body: invite } = await post('/v1/invites', { scope: kind, [`${kind}_id`]: room.id });
    const at = (start: string, more = {}) => {
      const startsAt = new Date(start);
      const taught = { tutorId: tutor.id, [`${kind}Id`]: room.id, studentRateGiven: true, studentRateCents: 4000, setRateCents: 4000 };
      return make.session(school, { ...taught, startsAt, endsAt: new Date(startsAt.getTime() + 3_600_000), ...more });
    };
    const [ahead] = [await at('2098-03-02T05:00:00Z'), await at('2026-03-02T05:00:00Z'), await at('2098-03-03T05:00:00Z', { status: 'cancelled' })];
    const places = (id: string) => make.query('SELECT session_id, status, rate_cents::int FROM lesson_participants WHERE student_id = $1', [id]);
    const place = { session_id: ahead.id, status: 'accepted', rate_cents: 4000 };
    expect(await places(await desk.joined(String(invite.token), null, newcomer()))).toEqual([place]);
    for (let many = 0; many < 60; many++) {
      const joined = 'INSERT INTO joins (organization_id, invite_id, user_id) VALUES ($1, $2, $3)';
      await make.query(joined, [school, invite.id, (await make.user()).id]);
    }
    await make.query('UPDATE invites SET places = NULL WHERE id = $1', [invite.id]);
    const late = await desk.joined(String(invite.token), null, newcomer());
    expect(await places(late)).toEqual([]);
    await acting(desk.portal, school, { userId: null, requestId: 'request-2' }).approve(late, 'member');
    expect(await places(late)).toEqual([place]);
  });

  it('a text that looks like an encrypted code is shown as it is', async () => {
    const { body } = await post('/v1/classrooms', { name: `sealed-${'0'.repeat(32)}-${'ab'.repeat(40)}` });
    expect(body.name).toBe(`sealed-${'0'.repeat(32)}-${'ab'.repeat(40)}`);
  });

  it('a code that was encrypted with another key is null', async () => {
    const { body } = await post('/v1/classrooms', { name: 'Restored' });
    await make.query(`UPDATE invites SET sealed = sealed || '\\x00' WHERE target_id = $1`, [body.id]);
    expect(await read(`/v1/classrooms/${body.id}`)).toEqual({ ...body, join_code: null });
  });

  it('shows the first of its groups', async () => {
    const { body } = await post('/v1/classrooms', { name: 'With groups' });
    const groups = [];
    for (const name of ['First', 'Second']) {
      groups.push((await post('/v1/groups', { name, classroom_id: body.id })).body.id);
      await sleep(2);
    }
    expect((await read(`/v1/classrooms/${body.id}`)).group_id).toBe(groups[0]);
    expect(await listed(`/v1/student-groups?classroom_id=${body.id}`)).toEqual([...groups].reverse());
  });
});

describe('POST /v1/groups', () => {
  it('creates a group with a name alone, and shows the same everywhere', async () => {
    const { status, body } = await post('/v1/groups', { name: 'Alone' });
    const empty = { tutor_id: null, classroom_id: null, subject_id: null, rate_per_student_cents: null, color: null };
    expect([status, body]).toMatchObject([201, { name: 'Alone', ...empty, avatar_url: null, student_ids: [] }]);
    expect(await read(`/v1/student-groups/${body.id}`)).toEqual(body);
    expect(((await read('/v1/student-groups')).data as Record[])[0]).toEqual(body);
    expect((await api.get(`/v1/student-groups/${body.id}`, otherKey)).status).toBe(404);
  });

  it('stores every field, with places for the tutor and the students', async () => {
    const [tutor, subject, room] = [await make.tutor(school), await make.subject(school), await make.classroom(school)];
    const students = await Promise.all(Array.from({ length: 100 }, () => make.student(school)));
    const wish = { name: 'Full', tutor_id: tutor.id, classroom_id: room.id, subject_id: subject.id, color: '#3366cc' };
    const people = { student_ids: students.map(({ id }) => id), rate_per_student_cents: 4500 };
    const { status, body } = await post('/v1/groups', { ...wish, ...people });
    expect([status, { ...body, student_ids: [...(body.student_ids as string[])].sort() }]).toMatchObject([
      201,
      { ...wish, ...people, student_ids: [...people.student_ids].sort() },
    ]);
    const places = await make.query(`SELECT user_id FROM student_group_members WHERE group_id = $1 AND role = 'tutor'`, [body.id]);
    expect(places).toEqual([{ user_id: tutor.id }]);
    const more = { student_ids: [...people.student_ids, tutor.id] };
    expect((await post('/v1/groups', { name: 'Too many', ...more })).status).toBe(422);
  });
});

describe.each(['/v1/classrooms', '/v1/groups'])('POST %s', (path) => {
  const isGroup = path === '/v1/groups';

  it('needs accepted people, in their role, and records of the organization', async () => {
    const wish = { name: 'Refused' };
    const count = () =>
      make
        .query('SELECT FROM classrooms WHERE organization_id = $1 UNION ALL SELECT FROM student_groups WHERE organization_id = $1', [school])
        .then(({ length }) => length);
    const [tutor, student] = [await make.tutor(school), await make.student(school)];
    const strangers = [
      await make.tutor(other),
      await make.student(other),
      await make.user(),
      await make.tutor(school, { status: 'pending' }),
      await make.student(school, { status: 'archived' }),
      await make.parent(school, { children: [student.id] }),
    ];
    const unknown: object[] = strangers.map(({ id }) => ({ tutor_id: id }));
    for (const { id } of [await make.subject(other), student]) unknown.push({ subject_id: id });
    unknown.push({ subject_id: 'unheard_of' });
    if (isGroup) {
      for (const { id } of strangers) unknown.push({ student_ids: [student.id, id] });
      unknown.push({ classroom_id: (await make.classroom(other)).id });
    }
    const before = await count();
    for (const wrong of unknown) expect([wrong, (await post(path, { ...wish, ...wrong })).status]).toEqual([wrong, 404]);
    const refusal = await post(path, { ...wish, tutor_id: student.id });
    expect(refusal).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'tutor_id'], type: 'value_error' }] } });
    if (isGroup) {
      const { status, body } = await post(path, { ...wish, student_ids: [student.id, tutor.id] });
      expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'student_ids', 1], type: 'value_error' }]]);
    }
    expect(await count()).toEqual(before);
  });

  it('refuses values that cannot be stored', async () => {
    const bad: [object, string][] = [
      [{}, 'missing'],
      [{ name: ' ' }, 'string_too_short'],
      [{ name: 'x'.repeat(201) }, 'string_too_long'],
      [{ name: 'x', organization_id: other }, 'extra_forbidden'],
      ...(isGroup
        ? ([
            [{ name: 'x', rate_per_student_cents: -1 }, 'greater_than_equal'],
            [{ name: 'x', color: 'red' }, 'string_pattern_mismatch'],
            [{ name: 'x', student_ids: {} }, 'list_type'],
          ] as [object, string][])
        : ([
            [{ name: 'x', price_cents: 1.5 }, 'int_type'],
            [{ name: 'x', billing_interval: 'fortnight' }, 'enum'],
          ] as [object, string][])),
    ];
    for (const [body, type] of bad) {
      const answer = await post(path, body);
      expect([body, answer.status, answer.body.detail!.map((fault) => fault.type)]).toEqual([body, 422, [type]]);
    }
  });
});
