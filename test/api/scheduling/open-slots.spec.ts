import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

interface Open {
  slots: { tutor_id: string; starts_at: string; ends_at: string }[];
  complete: boolean;
}

const api = await TestApi.shared();
const { make } = api;

/** Two tutors of Methods, of whom one teaches on Mondays and the other one on Mondays and Tuesdays, at 16:00 to 18:00. */
async function open() {
  const at = await CalendarFixture.open(api);
  const subject = await make.subject(at.school);
  const hours = (tutor: string, ...days: number[]) =>
    make.insert(
      'availabilities',
      days.map((day_of_week) => ({ tutor_id: tutor, day_of_week, start_time: '16:00', end_time: '18:00', timezone: 'Australia/Melbourne' })),
      { organization_id: at.school },
    );
  const teaches = async (tutor: string, teachingMode: 'online' | 'in_person') => {
    const key = await api.key(at.school, { scopes: ['read', 'tutors:write'] });
    await at.send('put', `/v1/tutors/${tutor}`, { teaching_mode: teachingMode, tutor_subjects: [subject.id] }, { key });
  };
  await hours(at.t1, 1);
  await hours(at.t2, 1, 2);
  await teaches(at.t1, 'online');
  await teaches(at.t2, 'in_person');
  const slots = async (query: string) =>
    (await at.send<Open>('get', `/v1/available-slots?subject_id=${subject.id}&from=2027-03-01&to=2027-03-02&${query}`)).body;
  return { at, subject, slots };
}

describe('the slots of a subject', () => {
  it('are those of everybody who teaches it, by their start', async () => {
    const { at, slots } = await open();
    const { slots: found, complete } = await slots('');
    expect(complete).toBe(true);
    // Five quarter hours at which an hour can start, on Monday for both, on Tuesday for one.
    expect(found).toHaveLength(15);
    expect(found.map(({ starts_at }) => starts_at)).toEqual(found.map(({ starts_at }) => starts_at).sort());
    expect(found[0]).toMatchObject({ starts_at: '2027-03-01T05:00:00.000Z', ends_at: '2027-03-01T06:00:00.000Z' });
    await at.book('2027-03-01T05:00:00Z', { duration_minutes: 120 });
    expect(new Set((await slots('')).slots.map(({ tutor_id }) => tutor_id))).toEqual(new Set([at.t2]));
    expect((await slots('mode=online')).slots).toEqual([]);
    expect((await slots('mode=in_person&duration_minutes=120')).slots).toHaveLength(2);
  });

  it('are at most 2,000, of at most 62 days, and of one organization', async () => {
    const { at, subject, slots } = await open();
    const other = await make.subject(at.school);
    const of = async (query: string) => at.send<Open>('get', `/v1/available-slots?${query}`);
    expect((await of(`subject_id=${other.id}&from=2027-03-01&to=2027-03-02`)).body.slots).toEqual([]);
    for (const wrong of ['', 'from=2027-03-01&to=2027-03-02', `subject_id=${subject.id}&from=2027-03-01&to=2027-06-01`]) {
      expect([wrong, (await of(wrong)).status]).toEqual([wrong, 422]);
    }
    const everyDay = [0, 2, 3, 4, 5, 6].map((day_of_week) => ({ day_of_week, start_time: '00:00', end_time: '24:00' }));
    await make.insert('availabilities', everyDay, { organization_id: at.school, tutor_id: at.t1, timezone: 'Australia/Melbourne' });
    const { body } = await of(`subject_id=${subject.id}&from=2027-03-01&to=2027-04-30`);
    expect([body.slots.length, body.complete]).toEqual([2000, false]);
    const elsewhere = await CalendarFixture.open(api);
    expect((await elsewhere.send<Open>('get', `/v1/available-slots?subject_id=${subject.id}&from=2027-03-01&to=2027-03-02`)).body.slots).toEqual([]);
    expect((await slots('')).complete).toBe(true);
  });
});

it('the next slot of a tutor is the first of theirs, or none', async () => {
  const { at } = await open();
  interface Next {
    starts_at: string | null;
    ends_at: string | null;
  }
  const next = async (tutor: string, query = '') => {
    const { starts_at, ends_at } = (await at.send<Next>('get', `/v1/tutors/${tutor}/next-slot${query}`)).body;
    return starts_at === null ? null : { starts_at, ends_at };
  };
  const first = await next(at.t1);
  expect(new Date(first!.starts_at).getTime()).toBeGreaterThanOrEqual(Date.now());
  await at.book(first!.starts_at, { duration_minutes: 120 });
  expect((await next(at.t1))!.starts_at > first!.starts_at).toBe(true);
  expect(await next(at.t1, '?duration_minutes=180')).toBeNull();
  expect((await at.send('get', `/v1/tutors/${at.students[0]}/next-slot`)).status).toBe(404);
});
