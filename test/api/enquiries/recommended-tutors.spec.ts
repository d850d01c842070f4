import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';

interface Recommended {
  tutor_id: string;
  first_name: string;
  score: number;
  breakdown: Record<string, number>;
  reasons: string[];
  upcoming_sessions_count: number;
  teaches_subject: boolean;
  distance_km: number | null;
  nearby: boolean;
  road_km: number | null;
  road_minutes: number | null;
}

const api = await TestApi.shared();
const { make } = api;
const { id: organizationId } = await make.organization({ timeZone: 'Australia/Melbourne' });
const key = await api.key(organizationId);
const subject = await make.subject(organizationId, { name: 'Physics', code: 'physics' });
await make.query(`INSERT INTO places (postcode, lat, lng) VALUES ('9001', -37.0, 145.0), ('9002', -37.1, 145.0) ON CONFLICT DO NOTHING`);
const student = (await make.student(organizationId)).id;
await make.row('locations', { organizationId, ownerType: 'student', studentId: student, postcode: '9002', isDefault: true });

async function tutor(firstName: string, profile: object, teaches = true): Promise<string> {
  const { id } = await make.tutor(organizationId, { user: { firstName, lastName: 'Okafor' }, profile });
  if (teaches) await make.tutorSubject(organizationId, id, subject.id);
  return id;
}
const hours = (tutorId: string, startTime: string, endTime: string, timezone = 'Australia/Melbourne') =>
  make.row('availabilities', { organizationId, tutorId, dayOfWeek: 1, startTime, endTime, timezone });

const ask = async (id: string, query = '', as = key) => {
  const answer = await api.get(`/v1/booking-requests/${id}/recommended-tutors${query}`, as);
  return answer as { status: number; body: { request_id: string; subject_id: string | null; data: Recommended[] } };
};
const wish = { subjectId: subject.id, studentId: student, preferredMode: 'in_person' as const, preferredDays: ['monday'], durationMinutes: 60 };
const request = (await make.row('booking_requests', { organizationId, ...wish, preferredTimes: { monday: ['16:00-18:00'] } })).id;

const near = await tutor('Near', { teachingMode: 'both', homePostcode: '9001', maxTravelKm: 12 });
await hours(near, '15:00', '18:00');
// Two hours or three behind Melbourne, so that this is 16:00 or 17:00 there.
const west = await tutor('West', { teachingMode: 'in_person' });
await hours(west, '14:00', '16:00', 'Australia/Perth');
const busy = await tutor('Busy', { teachingMode: 'in_person' });
const other = await tutor('Other', { teachingMode: 'both', homePostcode: '9002', servesAllAreas: true }, false);
await hours(other, '16:00', '18:00');
await make.tutor(organizationId, { status: 'archived', profile: { teachingMode: 'both' } });
for (const [status, days] of [['scheduled', 3], ['pending', 90], ['cancelled', 3], ['completed', -3]] as const) {
  await make.session(organizationId, { tutorId: busy, status, startsAt: new Date(Date.now() + days * 86_400_000) });
} // prettier-ignore

describe('the recommended tutors', () => {
  it('are those who suit best, with parts that add up, and reasons', async () => {
    const { status, body } = await ask(request);
    expect([status, body.request_id, body.subject_id]).toEqual([200, request, subject.id]);
    expect(body.data.map(({ first_name }) => first_name)).toEqual(['Near', 'West', 'Busy', 'Other']);
    for (const { score, breakdown } of body.data) expect(Object.values(breakdown).reduce((sum, part) => sum + part, 0)).toBe(score);
    const [first, second, third, last] = body.data;
    expect(first).toEqual({
      tutor_id: near,
      first_name: 'Near',
      last_name: 'Okafor',
      score: 98,
      breakdown: { subject: 40, availability: 25, mode: 15, capacity: 10, distance: 8 },
      reasons: ['Teaches Physics', 'Has time on 1 of 1 preferred days', 'Teaches in person', '0 sessions ahead', '11.1 km away', 'Teaches in 9002'],
      upcoming_sessions_count: 0,
      teaches_subject: true,
      distance_km: 11.1,
      nearby: true,
      road_km: null,
      road_minutes: null,
    });
    expect(second).toMatchObject({ breakdown: { availability: 25, distance: 0 }, distance_km: null, nearby: false });
    expect(third).toMatchObject({ breakdown: { availability: 0, capacity: 9 }, upcoming_sessions_count: 2 });
    expect(last).toMatchObject({ tutor_id: other, teaches_subject: false, score: 31, nearby: true });
    expect((await ask(request)).body).toEqual(body);
  });

  it('are ten unless more are wanted, at most 50', async () => {
    for (let more = 0; more < 50; more++) await tutor(`More ${more}`, {});
    expect((await ask(request)).body.data).toHaveLength(10);
    expect((await ask(request, '?limit=50')).body.data).toHaveLength(50);
    expect((await ask(request, '?limit=1')).body.data.map(({ tutor_id }) => tutor_id)).toEqual([near]);
    for (const query of ['?limit=51', '?limit=0', '?offset=1']) expect((await ask(request, query)).status).toBe(422);
  });

  it('of a request without wishes are found, too', async () => {
    const { id } = await make.row('booking_requests', { organizationId, studentDisplayName: 'Mia' });
    const { body } = await ask(id, '?limit=50');
    expect(body.subject_id).toBeNull();
    for (const { teaches_subject, distance_km } of body.data) expect([teaches_subject, distance_km]).toEqual([true, null]);
  });

  it('are only those of the organization, as the request is', async () => {
    const { id: elsewhere } = await make.organization();
    const foreign = await api.key(elsewhere);
    for (const [id, as] of [[request, foreign], [uuidv7(), key], ['abc', key]] as const) expect((await ask(id, '', as)).status).toBe(404);
    const own = await make.row('booking_requests', { organizationId: elsewhere });
    expect((await ask(own.id, '', foreign)).body.data).toEqual([]);
  }); // prettier-ignore
});
