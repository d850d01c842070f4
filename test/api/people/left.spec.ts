import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const LATER = '2127-03-01T05:00:00Z';
const PAST = '2026-03-02T05:00:00Z';

const at = await CalendarFixture.open(api);
const key = await api.key(at.school, { scopes: ['read', 'write', 'accounts:write', 'sessions:write', 'leads:write'] });
const send = (method: 'post' | 'put' | 'patch' | 'delete' | 'get', path: string, body?: object) =>
  at.send<Record<string, unknown>>(method, path, body, { key });
const offboard = async (kind: 'students' | 'tutors', id: string) => expect((await send('post', `/v1/${kind}/${id}/offboard`)).status).toBe(200);
const someone = async () => (await make.student(at.school)).id;

describe('a student who has left', () => {
  it('is not put back into a session', async () => {
    const [gone, stays] = [await someone(), await someone()];
    const { body: session } = await at.book(LATER, { student_ids: [gone, stays] });
    const declined = (await at.book(PAST, { student_ids: [gone, stays], allow_overlap: true })).body;
    const placeIn = async (id: string) => (await at.participants(id)).find((one) => one.student_id === gone)!.id;
    expect((await send('patch', `/v1/lesson-participants/${await placeIn(declined.id)}`, { status: 'declined' })).status).toBe(200);
    await offboard('students', gone);

    for (const { id } of [session, declined])
      for (const status of ['accepted', 'pending']) {
        const answer = await send('patch', `/v1/lesson-participants/${await placeIn(id)}`, { status });
        expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_state']);
      }
    for (const ids of [[gone, stays], [stays, gone], [gone], [gone, stays, at.students[0]]])
      expect((await at.put(session.id, { student_ids: ids })).status).toBe(404);
    expect((await at.participants(session.id)).map(({ status }) => status).sort()).toEqual(['accepted', 'cancelled']);
    expect((await at.put(session.id, { title: 'Goes on', student_ids: [stays] })).status).toBe(200);
  });

  it('is not moved into the future with a lesson that nobody completed', async () => {
    const gone = await someone();
    const { body: lesson } = await at.book('2026-03-03T05:00:00Z', { student_id: gone });
    await offboard('students', gone);
    const moved = await at.put(lesson.id, { starts_at: '2127-03-03T05:00:00Z' });
    expect([moved.status, moved.body.error.code]).toEqual([409, 'invalid_state']);
    expect((await at.put(lesson.id, { starts_at: '2026-03-03T06:00:00Z' })).status).toBe(200);
    expect((await send('put', `/v1/sessions/${lesson.id}/complete`, {})).status).toBe(200);
  });

  it.each(['first', 'last'])('keeps no place that they are given at the same moment (removed %s)', async (when) => {
    const rooms = await Promise.all(
      Array.from({ length: 9 }, async (_, n) => {
        const group = n % 2 === 0;
        const { id } = group ? await make.group(at.school) : await make.classroom(at.school);
        return `/v1/${group ? 'groups' : 'classrooms'}/${id}/students`;
      }),
    );
    const seen = new Set<number>();
    for (let round = 0; round < 5; round++) {
      const gone = await someone();
      const adding = () => rooms.map(async (path) => (await send('post', path, { user_id: gone })).status);
      const before = when === 'last' ? adding() : [];
      const removing = send('post', `/v1/students/${gone}/offboard`);
      const statuses = await Promise.all(when === 'last' ? before : adding());
      expect((await removing).status).toBe(200);
      for (const status of statuses) seen.add(status);
      const left = await make.query(
        'SELECT FROM student_group_members WHERE user_id = $1 UNION ALL SELECT FROM classroom_members WHERE user_id = $1', [gone],
      ); // prettier-ignore
      expect(left).toEqual([]);
    }
    expect([...seen].filter((status) => ![200, 201, 404].includes(status))).toEqual([]);
  });

  it('asks for nothing any more, whatever becomes of the session', async () => {
    const gone = await someone();
    await make.row('locations', { organizationId: at.school, ownerType: 'student', studentId: gone, postcode: 'LEFT1', isDefault: true });
    const ask = async () => (await send('post', '/v1/booking-requests', { student_id: gone })).body.id as string;
    const [waiting, declined, matched] = [await ask(), await ask(), await ask()];
    await make.query(`UPDATE booking_requests SET status = 'declined' WHERE id = $1`, [declined]);
    const booked = await at.book('2127-03-04T05:00:00Z', { student_id: gone, booking_request_id: matched });
    expect(booked.status).toBe(201);
    const demand = async () => JSON.stringify((await send('get', '/v1/coverage/gaps')).body);
    expect(await demand()).toContain('LEFT1');
    await offboard('students', gone);
    expect(await demand()).not.toContain('LEFT1');
    expect((await make.find('booking_requests', waiting)).status).toBe('expired');
    expect((await send('delete', `/v1/sessions/${booked.body.id}`)).status).toBe(204);
    expect((await make.find('booking_requests', matched)).status).toBe('expired');
    expect((await at.book('2127-03-04T05:00:00Z', { booking_request_id: waiting })).status).toBe(409);
  });
});

describe('a tutor who has left', () => {
  it('looks after no lead any more', async () => {
    const { id: tutor } = await make.tutor(at.school);
    const lead = await send('post', '/v1/leads', { name: 'Ada', email: 'ada@example.org', assigned_tutor_id: tutor });
    expect(lead.status).toBe(201);
    await offboard('tutors', tutor);
    expect((await make.find('leads', lead.body.id as string)).assignedTutorId).toBeNull();
  });

  it('teaches what is ahead no more: it is neither confirmed nor completed until somebody else does', async () => {
    const { id: tutor } = await make.tutor(at.school);
    const { body: session } = await at.book('2127-03-05T05:00:00Z', { tutor_id: tutor });
    await offboard('tutors', tutor);
    const confirm = (more: object = {}) => at.put(session.id, { status: 'scheduled', ...more });
    const refused = await confirm();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'invalid_state']);
    expect((await confirm({ tutor_id: tutor })).status).toBe(404);
    expect((await confirm({ tutor_id: at.t2 })).body).toMatchObject({ status: 'scheduled', tutor_id: at.t2 });

    const { id } = await make.session(at.school, { startsAt: new Date(PAST), tutorId: null, status: 'scheduled' });
    const completed = await send('put', `/v1/sessions/${id}/complete`, {});
    expect([completed.status, completed.body.error.code]).toEqual([409, 'invalid_state']);
  });

  it('is paid for a lesson that was held, and completed later', async () => {
    const { id: tutor } = await make.tutor(at.school);
    const { body: lesson } = await at.book('2026-03-06T05:00:00Z', { tutor_id: tutor, tutor_pay_rate_cents: 5000, student_rate_cents: 9000 });
    const { body: pending } = await at.book('2026-03-06T07:00:00Z', { tutor_id: tutor, tutor_pay_rate_cents: 5000, status: 'pending' });
    await offboard('tutors', tutor);
    expect((await at.put(pending.id, { status: 'scheduled' })).status).toBe(200);
    for (const { id } of [lesson, pending]) expect((await send('put', `/v1/sessions/${id}/complete`, {})).status).toBe(200);
    expect(await make.query('SELECT tutor_pay_cents::integer AS pay FROM sessions WHERE tutor_id = $1', [tutor])).toEqual([
      { pay: 5000 },
      { pay: 5000 },
    ]);
    expect((await at.put(pending.id, { starts_at: LATER })).status).toBe(409);
  });
});
