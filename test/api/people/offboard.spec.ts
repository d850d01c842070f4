import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const [school, other] = [(await make.organization()).id, (await make.organization()).id];
const key = await api.key(school, { scopes: ['read', 'accounts:write', 'sessions:write'] });

const [SOON, LATER] = [new Date(Date.now() + 3_600_000), new Date(Date.now() + 90_000_000)];
const ZEROS = { success: true, scope: 'organization', archived_relationships: 0, classrooms_removed: 0, coverage_revoked: 0, reason: null };

const offboard = (kind: string, id: string, body: object = {}) =>
  supertest(api.server).post(`/v1/${kind}/${id}/offboard`).set('Authorization', `Token token=${key}`).send(body);
const rows = (table: string, columns: string, where: string, ...ids: unknown[]) =>
  make.query(`SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY 1`, ids);
const mails = (to: string) => rows('outbox', 'kind', 'email_normalized = $1', to);

/** A tutor with everything that a removal ends, and a session of each kind. */
async function busyTutor() {
  const [tutor, successor] = [await make.tutor(school, { profile: { isPublished: true } }), await make.tutor(school)];
  const child = await make.student(school);
  await make.tutorStudent(school, tutor.id, child.id);
  const classroom = await make.classroom(school, { tutorId: tutor.id });
  await make.classroomMember(school, classroom.id, tutor.id, 'teacher');
  const group = await make.group(null, { tutorId: tutor.id });
  await make.groupMember(group.id, tutor.id, { role: 'tutor' });
  await make.invoice(school, child.id, { tutorId: tutor.id });
  const lesson = { tutorId: tutor.id, studentId: child.id };
  const [held, first, second] = [
    await make.session(school, { ...lesson, status: 'completed' }),
    await make.session(school, { ...lesson, startsAt: SOON }),
    await make.session(school, { ...lesson, startsAt: LATER }),
  ];
  await make.session(school, { tutorId: successor.id, startsAt: SOON });
  const made = await api.keys.create(school, { name: 'theirs', scopes: ['read'] });
  await make.query('UPDATE api_keys SET created_by = $1 WHERE id = $2', [tutor.id, made.id]);
  return { tutor, successor, child, classroom, group, held, first, second, made };
}

describe('POST /v1/tutors/{id}/offboard', () => {
  it('ends everything that a tutor has, keeps what was done, and says so once', async () => {
    const { tutor, classroom, group, held, first, second, made } = await busyTutor();
    expect((await api.get('/v1/students', made.key)).status).toBe(200);
    const answer = await offboard('tutors', tutor.id);
    expect([answer.status, answer.body]).toEqual([200, { ...ZEROS, archived_relationships: 1, classrooms_removed: 1 }]);

    expect((await api.get('/v1/students', made.key)).status).toBe(401);
    const [member] = await rows('members', 'status, archived_at IS NOT NULL AS gone', 'user_id = $1', tutor.id);
    expect(member).toEqual({ status: 'archived', gone: true });
    expect(await rows('sessions', 'tutor_id, status', 'id = $1', held.id)).toEqual([{ tutor_id: tutor.id, status: 'completed' }]);
    for (const { id } of [first, second])
      expect(await rows('sessions', 'tutor_id, status', 'id = $1', id)).toEqual([{ tutor_id: null, status: 'pending' }]);
    // The group was nobody's but its tutor's; it stays with the organization.
    expect(await rows('student_groups', 'organization_id, tutor_id', 'id = $1', group.id)).toEqual([{ organization_id: school, tutor_id: null }]);
    expect((await api.get(`/v1/tutors?is_published=true&limit=100`, key)).text).not.toContain(tutor.id);
    expect(await rows('classroom_members', 'user_id', 'classroom_id = $1', classroom.id)).toEqual([]);
    expect(await mails(tutor.emailNormalized)).toEqual([{ kind: 'membership_ended' }]);

    expect((await offboard('tutors', tutor.id)).body).toEqual(ZEROS);
    expect(await mails(tutor.emailNormalized)).toHaveLength(1);
  });

  it('hands over what another tutor has time for, with classrooms and groups', async () => {
    const { tutor, successor, classroom, group, first, second } = await busyTutor();
    const answer = await offboard('tutors', tutor.id, { sessions: 'hand_over', hand_over_to: successor.id });
    expect(answer.status).toBe(200);
    expect(await rows('sessions', 'tutor_id, status', 'id = $1', first.id)).toEqual([{ tutor_id: null, status: 'pending' }]);
    expect(await rows('sessions', 'tutor_id, status', 'id = $1', second.id)).toEqual([{ tutor_id: successor.id, status: 'scheduled' }]);
    expect(await rows('classroom_members', 'user_id, role', 'classroom_id = $1', classroom.id)).toEqual([{ user_id: successor.id, role: 'teacher' }]);
    expect(await rows('student_groups', 'tutor_id', 'id = $1', group.id)).toEqual([{ tutor_id: successor.id }]);
  });

  it('cancels sessions ahead, for everybody in them', async () => {
    const { tutor, child, second } = await busyTutor();
    await make.participant(school, second.id, child.id, { status: 'accepted' });
    await offboard('tutors', tutor.id, { sessions: 'cancel' });
    expect(await rows('sessions', 'status', 'id = $1', second.id)).toEqual([{ status: 'cancelled' }]);
    expect(await rows('lesson_participants', 'status', 'session_id = $1', second.id)).toEqual([{ status: 'cancelled' }]);
  });

  it.each([
    ['a student', async () => (await make.student(school)).id],
    ['themselves', async (tutor: string) => Promise.resolve(tutor)],
    ['a tutor of another organization', async () => (await make.tutor(other)).id],
    ['an archived tutor', async () => (await make.tutor(school, { status: 'archived' })).id],
  ])('hands nothing over to %s', async (who, successor) => {
    const { tutor, second } = await busyTutor();
    const answer = await offboard('tutors', tutor.id, { sessions: 'hand_over', hand_over_to: await successor(tutor.id) });
    expect(answer.status).toBe(who === 'a student' ? 422 : 404);
    expect(await rows('sessions', 'tutor_id', 'id = $1', second.id)).toEqual([{ tutor_id: tutor.id }]);
  });

  it.each(['owner', 'admin'] as const)('never removes an %s', async (role) => {
    const { id } = await make.member(school, { role });
    const answer = await offboard('tutors', id);
    expect([answer.status, answer.body]).toMatchObject([409, { error: { code: 'is_manager' } }]);
    expect(await rows('members', 'status', 'user_id = $1', id)).toEqual([{ status: 'accepted' }]);
  });

  it('leaves a session without a tutor if a writer that takes no lock fills the time meanwhile', async () => {
    const { tutor, successor, second } = await busyTutor();
    const other = make.db.createQueryRunner();
    await other.startTransaction();
    await other.query(
      `INSERT INTO sessions (id, organization_id, tutor_id, starts_at, ends_at, duration_minutes)
       SELECT gen_random_uuid(), organization_id, $2, starts_at, ends_at, duration_minutes FROM sessions WHERE id = $1`,
      [second.id, successor.id],
    );
    const removal = offboard('tutors', tutor.id, { sessions: 'hand_over', hand_over_to: successor.id });
    const answer = removal.then(({ status }) => status);
    await vi.waitFor(async () => {
      const waiting = await make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE '%UPDATE sessions%'`);
      expect(waiting.length).toBeGreaterThan(0);
    });
    await other.commitTransaction();
    await other.release();
    expect(await answer).toBe(200);
    expect(await rows('sessions', 'tutor_id, status', 'id = $1', second.id)).toEqual([{ tutor_id: null, status: 'pending' }]);
  });

  it('requires a successor with hand_over, and only then', async () => {
    const { id } = await make.tutor(school);
    const to = (await make.tutor(school)).id;
    for (const body of [{ sessions: 'hand_over' }, { sessions: 'cancel', hand_over_to: to }, { hand_over_to: to }])
      expect((await offboard('tutors', id, body)).status).toBe(422);
  });

  it.each(['tutors', 'students'])('leaves no session ahead with one of the %s, whatever is booked at the same time', async (kind) => {
    let booked = 0;
    for (let round = 0; round < 12; round++) {
      const [tutor, student] = [await make.tutor(school), await make.student(school)];
      const gone = kind === 'tutors' ? tutor : student;
      const startsAt = new Date(Math.ceil(LATER.getTime() / 60_000) * 60_000);
      const body = { tutor_id: tutor.id, student_id: student.id, starts_at: startsAt, duration_minutes: 60 };
      const [booking, ended] = await Promise.all([
        supertest(api.server).post('/v1/sessions').set('Authorization', `Token token=${key}`).send(body),
        offboard(kind, gone.id),
      ]);
      expect([booking.status, ended.status]).toEqual([booking.status === 201 ? 201 : 404, 200]);
      if (booking.status === 201) booked++;
      const left = `SELECT 1 FROM sessions s JOIN lesson_participants p ON p.session_id = s.id WHERE s.status <> 'cancelled'
        AND p.status = 'accepted' AND (s.tutor_id = $1 OR p.student_id = $1)`;
      expect(await make.query(left, [gone.id])).toEqual([]);
    }
    console.log(`removal against booking (${kind}): booked first in ${booked} of 12 rounds`);
  });

  it('leaves what the person has in another organization', async () => {
    const tutor = await make.tutor(school);
    await make.tutor(other, { user: { id: tutor.id } });
    const [here, there, theirs] = [await make.student(school), await make.student(other), await make.user()];
    await make.member(school, { user: { id: theirs.id }, role: 'tutor' });
    await make.member(other, { user: { id: theirs.id }, role: 'tutor' });
    const [ours, shared] = [
      await make.conversation({ participants: [tutor.id, here.id] }),
      await make.conversation({ participants: [tutor.id, theirs.id] }),
    ];
    await make.tutorStudent(other, tutor.id, there.id);
    const elsewhere = await make.session(other, { tutorId: tutor.id, startsAt: LATER });
    await offboard('tutors', tutor.id);
    expect(await rows('members', 'status', 'user_id = $1 AND organization_id = $2', tutor.id, other)).toEqual([{ status: 'accepted' }]);
    expect(await rows('tutor_students', 'status', 'tutor_id = $1', tutor.id)).toEqual([{ status: 'active' }]);
    expect(await rows('sessions', 'tutor_id', 'id = $1', elsewhere.id)).toEqual([{ tutor_id: tutor.id }]);
    const left = (id: string) =>
      rows('conversation_participants', 'left_at IS NOT NULL AS gone', 'conversation_id = $1 AND user_id = $2', id, tutor.id);
    expect([await left(ours.id), await left(shared.id)]).toEqual([[{ gone: true }], [{ gone: false }]]);
  });
});

describe('POST /v1/students/{id}/offboard', () => {
  it('takes the student out of each session ahead, and cancels those without anybody else', async () => {
    const [student, sibling] = [await make.student(school), await make.student(school)];
    const [alone, together] = [
      await make.session(school, { studentId: student.id, startsAt: SOON }),
      await make.session(school, { startsAt: LATER }),
    ];
    await make.participant(school, alone.id, student.id, { status: 'accepted' });
    for (const { id } of [student, sibling]) await make.participant(school, together.id, id, { status: 'accepted' });
    await make.tutorStudent(school, (await make.tutor(school)).id, student.id);
    const answer = await offboard('students', student.id);
    expect(answer.body).toEqual({ ...ZEROS, archived_relationships: 1 });
    expect(await rows('sessions', 'status', 'id IN ($1, $2)', alone.id, together.id)).toEqual([{ status: 'cancelled' }, { status: 'scheduled' }]);
    expect(await rows('lesson_participants', 'status', 'session_id = $1', together.id)).toEqual([{ status: 'accepted' }, { status: 'cancelled' }]);
    expect((await offboard('students', student.id)).body).toEqual(ZEROS);
  });

  it('lets nobody in with an invite that was open, and a new invite lets the student back', async () => {
    const asked = { first_name: 'Mia', last_name: 'Nguyen', email: 'mia.back@example.org', send_invite: true };
    const create = () => supertest(api.server).post('/v1/students').set('Authorization', `Token token=${key}`).send(asked);
    const { id } = (await create()).body as { id: string };
    await offboard('students', id);
    expect(await rows('invites', 'revoked_at IS NOT NULL AS closed', 'target_id = $1', id)).toEqual([{ closed: true }]);
    expect((await create()).body).toMatchObject({ id, status: 'accepted' });
  });

  it.each(['tutors', 'parents'])('does not know the student as one of the %s', async (kind) => {
    const { id } = await make.student(school);
    expect((await offboard(kind, id)).status).toBe(404);
  });
});

describe('POST /v1/parents/{id}/offboard', () => {
  it('ends what a parent sees; the children stay', async () => {
    const children = [(await make.student(school)).id, (await make.student(school)).id];
    const { id } = await make.parent(school, { children });
    expect((await offboard('parents', id)).body).toEqual({ ...ZEROS, archived_relationships: 2 });
    expect((await api.get(`/v1/parents/${id}`, key)).status).toBe(404);
    expect((await offboard('parents', id)).body).toEqual(ZEROS);
    expect(await rows('members', 'status', 'user_id = ANY ($1)', children)).toEqual([{ status: 'accepted' }, { status: 'accepted' }]);
  });

  it('leaves staff who are parents, too, what they do as staff', async () => {
    const child = await make.student(school);
    const tutor = await make.tutor(school);
    await make.parent(school, { user: { id: tutor.id }, children: [child.id] });
    await offboard('parents', tutor.id);
    expect(await rows('members', 'status', 'user_id = $1', tutor.id)).toEqual([{ status: 'accepted' }]);
  });

  it('DELETE /v1/parents/{id}/students/{id} unlinks one child, once', async () => {
    const [first, second] = [await make.student(school), await make.student(school)];
    const { id } = await make.parent(school, { children: [first.id, second.id] });
    const unlink = () => supertest(api.server).delete(`/v1/parents/${id}/students/${first.id}`).set('Authorization', `Token token=${key}`);
    expect((await unlink()).status).toBe(204);
    expect((await api.get(`/v1/parents/${id}`, key)).body).toMatchObject({ student_ids: [second.id] });
    expect((await unlink()).status).toBe(404);
  });
});

it('a repeat that leaves the choice out or makes the same is 200, and one that makes another is refused', async () => {
  const to = (await make.tutor(school)).id;
  const CHOICES = [{ sessions: 'unassign' }, { sessions: 'cancel' }, { sessions: 'hand_over', hand_over_to: to }];
  for (const choice of CHOICES) {
    const { id } = await make.tutor(school);
    const answers = [];
    for (const body of [choice, {}, choice, ...CHOICES.filter((one) => one !== choice)]) answers.push((await offboard('tutors', id, body)).status);
    expect(answers).toEqual([200, 200, 200, 409, 409]);
  }
});
