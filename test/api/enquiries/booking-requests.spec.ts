import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { CalendarFixture, type Sent } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

interface ShownRequest {
  id: string;
  status: string;
  subject_id: string | null;
  student_id: string | null;
  student_display_name: string | null;
  preferred_mode: string | null;
  preferred_days: string[];
  preferred_times: Record<string, string[]>;
  duration_minutes: number | null;
  matched_session_id: string | null;
}

const api = await TestApi.shared();
const { make } = api;
const at = await CalendarFixture.open(api);
const { school } = at;
const [student] = at.students;
const asking = await api.key(school, { scopes: ['read', 'leads:write'] });
const subject = await make.subject(school, { name: 'Mathematical Methods', code: 'methods' });

const ask = (body: object, key = asking): Promise<Sent<ShownRequest>> => at.send('post', '/v1/booking-requests', body, { key });
const pending = async () => (await ask({ student_id: student })).body.id;
const shown = async (id: string) => {
  const { body } = await at.send<{ data: ShownRequest[] }>('get', '/v1/booking-requests?limit=100');
  return body.data.find((request) => request.id === id)!;
};
/** A new time for each session. */
let hours = 0;
const time = () => new Date(Date.UTC(2027, 2, 1) + ++hours * 2 * 3_600_000).toISOString();

describe('a booking request', () => {
  it('keeps what was wished for', async () => {
    const wish = {
      student_id: student,
      preferred_mode: 'either',
      preferred_days: ['monday', 'thursday'],
      preferred_times: { monday: ['16:00-18:00', '19:00-24:00'] },
      duration_minutes: 45,
      message: 'Soon, please',
    };
    const { status, body } = await ask({ ...wish, subject_id: 'methods' });
    expect([status, body]).toMatchObject([201, { ...wish, status: 'pending', subject_id: subject.id, matched_session_id: null }]);
    expect((await ask({ student_display_name: 'Mia' })).body).toMatchObject({ student_id: null, preferred_days: [], preferred_times: {} });
    for (const query of ['subject_id=methods&status=pending', `subject_id=${subject.id}`]) {
      const list = await at.send<{ data: ShownRequest[] }>('get', `/v1/booking-requests?${query}`);
      expect(list.body.data).toEqual([body]);
    }
  });

  it.each([
    [{}, 'student_id', 'missing'],
    [{ student_display_name: 'Mia', preferred_days: ['Monday'] }, 'preferred_days', 'enum'],
    [{ student_display_name: 'Mia', preferred_days: ['monday', 'monday'] }, 'preferred_days', 'value_error'],
    [{ student_display_name: 'Mia', preferred_times: { monday: ['4pm'] } }, 'preferred_times', 'string_pattern_mismatch'],
    [{ student_display_name: 'Mia', preferred_times: { monday: ['18:00-16:00'] } }, 'preferred_times', 'value_error'],
    [{ student_display_name: 'Mia', preferred_times: { someday: [] } }, 'preferred_times', 'extra_forbidden'],
    [{ student_display_name: 'Mia', duration_minutes: 4 }, 'duration_minutes', 'greater_than_equal'],
    [{ student_display_name: 'Mia', preferred_mode: 'both' }, 'preferred_mode', 'enum'],
  ])('%j is refused', async (body, field, type) => {
    const { status, body: answer } = await ask(body);
    expect([status, answer.detail.map(({ loc, type }) => [loc[1], type])]).toEqual([422, [[field, type]]]);
  });

  it('names people and subjects of the organization', async () => {
    const { id: other } = await make.organization();
    const strangers = [uuidv7(), (await make.student(other)).id, (await make.student(school, { status: 'archived' })).id, at.t1];
    for (const student_id of strangers) expect((await ask({ student_id })).status).toBe(404);
    for (const subject_id of ['physics', (await make.subject(other)).id]) expect((await ask({ student_id: student, subject_id })).status).toBe(404);
    expect((await ask({ student_id: student }, at.key)).status).toBe(403);
  });

  it('is matched by the session that is booked for it, once', async () => {
    const id = await pending();
    const booked = await at.book(time(), { booking_request_id: id });
    expect([booked.status, Object.keys(booked.body).includes('booking_request_id')]).toEqual([201, false]);
    expect(await shown(id)).toMatchObject({ status: 'matched', matched_session_id: booked.body.id });
    const again = await at.book(time(), { booking_request_id: id });
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'invalid_state', details: { state: 'matched', allowed: ['pending'] } } } });
  });

  it('waits again if nothing comes of the booking, or if the session is deleted', async () => {
    const id = await pending();
    const taken = time();
    const first = await at.book(taken);
    expect((await at.book(taken, { booking_request_id: id })).status).toBe(409);
    expect(await shown(id)).toMatchObject({ status: 'pending', matched_session_id: null });
    const { body: booked } = await at.book(time(), { booking_request_id: id });
    expect((await at.send('delete', `/v1/sessions/${booked.id}`)).status).toBe(204);
    expect(await shown(id)).toMatchObject({ status: 'pending', matched_session_id: null });
    expect((await at.send('delete', `/v1/sessions/${first.body.id}`)).status).toBe(204);
  });

  it('of nobody, of others and one that is no longer pending are refused', async () => {
    const { id: other } = await make.organization();
    const foreign = (await make.row('booking_requests', { organizationId: other })).id;
    for (const booking_request_id of [uuidv7(), foreign]) expect((await at.book(time(), { booking_request_id })).status).toBe(404);
    for (const status of ['declined', 'expired'] as const) {
      const { id } = await make.row('booking_requests', { organizationId: school, status });
      expect((await at.book(time(), { booking_request_id: id })).status).toBe(409);
    }
  });

  it('is matched by one of several bookings at the same time, and by a series', async () => {
    const id = await pending();
    const answers = await Promise.all(Array.from({ length: 6 }, () => at.book(time(), { booking_request_id: id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const next = await pending();
    const series = await at.send<{ data: { id: string }[] }>('post', '/v1/session-series', {
      tutor_id: at.t2,
      student_id: student,
      starts_at: time(),
      duration_minutes: 60,
      every_weeks: 1,
      count: 3,
      booking_request_id: next,
    });
    expect(await shown(next)).toMatchObject({ status: 'matched', matched_session_id: series.body.data[0]!.id });
  });
});

describe('PATCH /v1/booking-requests/{id}', () => {
  const patch = (id: string, body: object, key = asking) => at.send<ShownRequest>('patch', `/v1/booking-requests/${id}`, body, { key });

  it('declines, lets wait again, and corrects the wishes of one that waits', async () => {
    const id = await pending();
    const wish = { subject_id: 'methods', preferred_mode: 'online', preferred_days: ['friday'], preferred_times: { friday: ['09:00-10:00'] } };
    const changed = await patch(id, { ...wish, duration_minutes: 90, message: 'Later' });
    expect([changed.status, changed.body]).toMatchObject([200, { ...wish, subject_id: subject.id, duration_minutes: 90, message: 'Later' }]);
    expect((await patch(id, { preferred_days: null, preferred_times: null })).body).toMatchObject({
      preferred_days: [],
      preferred_times: {},
      message: 'Later',
    });
    for (const status of ['declined', 'declined']) expect((await patch(id, { status })).body.status).toBe('declined');
    expect((await patch(id, { message: 'Now' })).status).toBe(409);
    expect((await patch(id, { status: 'declined', message: 'Now' })).status).toBe(409);
    expect((await patch(id, { status: 'pending', message: 'Now' })).body).toMatchObject({ status: 'pending', message: 'Now' });
    expect((await at.send('get', `/v1/booking-requests/${id}`)).body).toMatchObject({ id, status: 'pending', message: 'Now' });
    expect((await patch(id, { subject_id: 'unheard-of' })).status).toBe(404);
    for (const body of [{ status: 'matched' }, { status: 'expired' }, { student_id: student }]) expect((await patch(id, body)).status).toBe(422);
    expect((await patch(id, { message: 'X' }, await api.key(school, { scopes: ['leads:write'] }))).status).toBe(403);
  });

  it('knows the request by its version', async () => {
    const id = await pending();
    const tagged = supertest(api.server)
      .patch(`/v1/booking-requests/${id}`)
      .set({ Authorization: `Token token=${asking}`, 'If-Match': '"other"' });
    expect((await tagged.send({ message: 'X' })).status).toBe(412);
  });
});
