import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

interface Shown {
  id: string;
  status: string;
  data: { tutor_id: string; score: number; breakdown: Record<string, number>; status: string; conversation_id: string }[];
  conversation_id: string;
  matched_session_id: string | null;
}

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await make.organization({ timeZone: 'Australia/Melbourne' });
const owner = await make.member(school, { role: 'owner' });
const scopes = ['read', 'leads:write', 'accounts:write', 'sessions:write', 'coursework:write', 'messages:write'] as const;
const key = await api.key(school, { scopes: [...scopes] });

async function call(method: 'get' | 'post' | 'patch' | 'put', path: string, body?: object) {
  const answer = await supertest(api.server)[method](`/v1/${path}`).set('Authorization', `Token token=${key}`).send(body);
  return { status: answer.status, body: answer.body as Shown };
}
const lead = (email: string) => call('post', 'leads', { name: 'Priya Sharma', email });

describe('an enquiry', () => {
  it('becomes a lead, a request, a booked lesson, and a student who is taught, written to, and leaves', async () => {
    const subject = await make.subject(school, { name: 'Physics', code: 'physics' });
    const [suited, other] = [
      await make.tutor(school, { profile: { teachingMode: 'online' } }),
      await make.tutor(school, { profile: { teachingMode: 'both' } }),
    ];
    await make.tutorSubject(school, suited.id, subject.id);
    await make.row('availabilities', { organizationId: school, tutorId: suited.id, dayOfWeek: 1, startTime: '15:00', endTime: '20:00', timezone: 'Australia/Melbourne' }); // prettier-ignore

    const { body: asked } = await lead('priya@example.org');
    for (const status of ['contacted', 'consultation_booked']) expect((await call('patch', `leads/${asked.id}`, { status })).status).toBe(200);
    const student = (await call('post', 'students', { first_name: 'Priya', last_name: 'Sharma' })).body.id;
    expect((await call('patch', `leads/${asked.id}`, { status: 'converted' })).body.status).toBe('converted');

    const wish = { student_id: student, subject_id: 'physics', preferred_mode: 'online', preferred_times: { monday: ['16:00-18:00'] } };
    const { body: request } = await call('post', 'booking-requests', wish);
    const found = (await call('get', `booking-requests/${request.id}/recommended-tutors`)).body.data;
    expect(found.map(({ tutor_id }) => tutor_id)).toEqual([suited.id, other.id]);
    expect(found.map(({ score }) => score)).toEqual([100, 18]);
    for (const { score, breakdown } of found) expect(Object.values(breakdown).reduce((sum, part) => sum + part, 0)).toBe(score);

    const lesson = { tutor_id: suited.id, student_id: student, duration_minutes: 60 };
    const { body: booked } = await call('post', 'sessions', { ...lesson, starts_at: '2026-05-04T06:00:00Z', booking_request_id: request.id });
    const requests = async () => (await call('get', 'booking-requests')).body.data;
    expect(await requests()).toMatchObject([{ status: 'matched', matched_session_id: booked.id }]);
    expect((await call('put', `sessions/${booked.id}/complete`)).body).toMatchObject({ id: booked.id, status: 'completed' });
    const plan = { title: 'Forces', scope: 'student', student_id: student, session_id: booked.id, plan_data: { goals: ['F = ma'] } };
    const { body: planned } = await call('post', 'lesson-plans', plan);
    expect((await call('put', `lesson-plans/${planned.id}`, { status: 'delivered' })).body).toMatchObject({ ...plan, created_by: owner.id });
    const first = await call('post', 'messages', { recipient_id: student, content: 'Welcome' });
    expect((await call('post', 'messages', { recipient_id: student, content: 'Again' })).body.conversation_id).toBe(first.body.conversation_id);

    await make.tutorStudent(school, suited.id, student);
    for (let room = 0; room < 2; room++) await make.classroomMember(school, (await make.classroom(school)).id, student, 'student');
    const { body: ahead } = await call('post', 'sessions', { ...lesson, starts_at: '2030-05-04T06:00:00Z' });
    const left = { success: true, scope: 'organization', archived_relationships: 1, classrooms_removed: 2, coverage_revoked: 0, reason: null };
    expect((await call('post', `students/${student}/offboard`)).body).toEqual(left);
    expect((await call('get', `sessions/${ahead.id}`)).body.status).toBe('cancelled');
    expect((await call('get', `sessions/${booked.id}`)).body.status).toBe('completed');
    expect((await call('post', `students/${student}/offboard`)).body).toEqual({ ...left, archived_relationships: 0, classrooms_removed: 0 });
    for (const [path, body] of [['sessions', { ...lesson, starts_at: '2030-05-04T06:00:00Z' }], ['booking-requests', wish], ['messages', { recipient_id: student, content: 'Gone' }], ['lesson-plans', { ...plan, session_id: null }]] as const) {
      expect([path, (await call('post', path, body)).status]).toEqual([path, 404]);
    } // prettier-ignore
    // The request that was matched stays, and can still be read.
    expect((await call('get', `booking-requests/${request.id}/recommended-tutors`)).status).toBe(200);
  });

  it.each(['MIA@Example.ORG', '  mia@example.org', 'mia@example.org\n', '\tMia@example.org '])(
    'from %j is one from the same address',
    async (email) => {
      const known = await lead('mia@example.org');
      expect(await lead(email)).toMatchObject({ status: 200, body: { id: known.body.id } });
    },
  );

  it.each(['mia+maths@example.org', 'mia@example.com', 'm.ia@example.org'])('from %s is one from another address', async (email) => {
    const known = await lead('mia@example.org');
    const { status, body } = await lead(email);
    expect(status).toBe(201);
    expect(body.id).not.toBe(known.body.id);
  });

  it('is found by the day on which it came, on the organization’s clock', async () => {
    const instants = ['2026-05-01T13:59:59.999Z', '2026-05-01T14:00:00.000Z', '2026-05-02T13:59:59.999Z', '2026-05-02T14:00:00.000Z'];
    for (const at of instants) await make.row('leads', { organizationId: school, name: at, createdAt: new Date(at) });
    const named = async (query: string) => ((await call('get', `leads?limit=100&${query}`)).body.data as unknown as { name: string }[]).map(({ name }) => name); // prettier-ignore
    expect(await named('from=2026-05-02&to=2026-05-02')).toEqual([instants[2], instants[1]]);
    expect(await named('from=2026-05-02T00:00:00Z&to=2026-05-02T14:00:00Z')).toEqual([instants[3], instants[2]]);
  });
});
