import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';

type Row = Record<string, unknown> & { id: string };

const api = await TestApi.shared();
const { make } = api;

const { id: school } = await make.organization({ timeZone: 'Australia/Melbourne' });
const { id: other } = await make.organization({ timeZone: 'Australia/Perth' });
const key = await api.key(school, { scopes: ['read', 'write'] });
const readOnly = await api.key(school, { scopes: ['read'] });
const foreign = await api.key(other, { scopes: ['read', 'write'] });

const SUNDAY = { day_of_week: 0, start_time: '01:00', end_time: '04:00' };
const NOBODY = '00000000-0000-0000-0000-000000000000';

const put = async (path: string, body: unknown, as = key) => {
  const answer = await supertest(api.server)
    .put(path)
    .set('Authorization', `Token token=${as}`)
    .set('Content-Type', 'application/json')
    .send(JSON.stringify(body));
  return { status: answer.status, body: answer.body as { data: Row[]; detail: Row[]; code?: string } };
};
const hours = (tutor: string, availabilities: object[], as = key) => put(`/v1/tutors/${tutor}/availabilities`, { availabilities }, as);
const timeOff = (tutor: string, time_off: object[], as = key) => put(`/v1/tutors/${tutor}/time-off`, { time_off }, as);

/** The starts of the slots, without date when they are on one day. */
async function slotsOf(tutor: string, from = '2027-05-02', to = from, more = ''): Promise<string[]> {
  const answer = await api.get(`/v1/tutors/${tutor}/available-slots?from=${from}&to=${to}${more}`, key);
  expect([from, to, answer.status]).toEqual([from, to, 200]);
  return (answer.body as { slots: { starts_at: string }[] }).slots.map(({ starts_at }) => starts_at);
}

describe('weekly hours', () => {
  it('are replaced as a whole, and keep the ids of those that stay', async () => {
    const { id: tutor } = await make.tutor(school);
    const monday = { day_of_week: 1, start_time: '16:00', end_time: '24:00', timezone: 'Australia/Perth' };
    const first = await hours(tutor, [monday, SUNDAY]);
    expect(first).toMatchObject({
      status: 200,
      body: {
        data: [
          { tutor_id: tutor, ...SUNDAY, timezone: 'Australia/Melbourne', schedule_id: null },
          { tutor_id: tutor, ...monday },
        ],
      },
    });
    expect(await hours(tutor, [SUNDAY, monday])).toEqual(first);
    const changed = (await hours(tutor, [{ ...SUNDAY, end_time: '04:05' }, monday])).body.data;
    expect(changed[1]).toEqual(first.body.data[1]);
    expect(changed[0]!.id).not.toBe(first.body.data[0]!.id);
    // The organization's zone by its name is the same as none.
    const named = await hours(tutor, [{ ...SUNDAY, end_time: '04:05', timezone: 'Australia/Melbourne' }, { ...monday }]);
    expect(named.body.data).toEqual(changed);

    const one = await api.get(`/v1/availabilities/${changed[0]!.id}`, key);
    expect([one.status, one.body]).toEqual([200, changed[0]]);
    const list = async (query: string) => ((await api.get(`/v1/availabilities?tutor_id=${tutor}${query}`, key)).body as { data: Row[] }).data;
    expect(await list('')).toEqual(expect.arrayContaining(changed));
    expect(await list('&day_of_week=1')).toEqual([changed[1]]);
    expect(await list('&day_of_week=2')).toEqual([]);
    expect((await api.get(`/v1/availabilities/${changed[0]!.id}`, foreign)).status).toBe(404);
    expect((await api.get(`/v1/availabilities/${first.body.data[0]!.id}`, key)).status).toBe(404);

    expect(await hours(tutor, [])).toEqual({ status: 200, body: { data: [] } });
  });

  it('may be sent as the list alone, whose faults are then where they are in it', async () => {
    const { id: tutor } = await make.tutor(school);
    const path = `/v1/tutors/${tutor}/availabilities`;
    expect((await put(path, [SUNDAY])).body.data).toMatchObject([SUNDAY]);
    const faulty = await put(path, [SUNDAY, { ...SUNDAY, day_of_week: 7 }]);
    expect([faulty.status, faulty.body.detail[0]!.loc]).toEqual([422, ['body', 1, 'day_of_week']]);
    expect((await put(path, [])).body).toEqual({ data: [] });
  });

  it.each([
    ['an end before the start', { ...SUNDAY, end_time: '00:30' }, ['availabilities', 0, 'end_time'], 'value_error'],
    ['an end at the start', { ...SUNDAY, end_time: '01:00' }, ['availabilities', 0, 'end_time'], 'value_error'],
    ['a start at 24:00', { ...SUNDAY, start_time: '24:00' }, ['availabilities', 0, 'start_time'], 'string_pattern_mismatch'],
    ['no time', { ...SUNDAY, start_time: '1:00' }, ['availabilities', 0, 'start_time'], 'string_pattern_mismatch'],
    ['no zone', { ...SUNDAY, timezone: 'Nowhere/Land' }, ['availabilities', 0, 'timezone'], 'value_error'],
    ['no day', { start_time: '01:00', end_time: '04:00' }, ['availabilities', 0, 'day_of_week'], 'missing'],
  ])('with %s are refused', async (_what, one, loc, type) => {
    const { id: tutor } = await make.tutor(school);
    const { status, body } = await hours(tutor, [one]);
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', ...loc], type }]]);
  }); // prettier-ignore

  it('must not overlap, and may touch', async () => {
    const { id: tutor } = await make.tutor(school);
    const later = { ...SUNDAY, start_time: '03:59', end_time: '05:00' };
    const { status, body } = await hours(tutor, [later, SUNDAY, { ...later, day_of_week: 1 }]);
    expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'availabilities', 0], type: 'value_error' }]]);
    // The zone of the one is named, that of the other is the organization's.
    expect((await hours(tutor, [{ ...later, timezone: 'Australia/Melbourne' }, SUNDAY])).status).toBe(422);
    expect((await hours(tutor, [{ ...later, start_time: '04:00' }, SUNDAY])).status).toBe(200);
  });

  it('belong to the staff of the organization alone', async () => {
    const { id: tutor } = await make.tutor(school);
    const { id: student } = await make.student(school);
    const { id: elsewhere } = await make.tutor(other);
    for (const replace of [hours, timeOff]) {
      expect((await replace(tutor, [], readOnly)).status).toBe(403);
      for (const id of [student, elsewhere, NOBODY, 'x']) expect((await replace(id, [])).status).toBe(404);
      expect((await replace(tutor, [], foreign)).status).toBe(404);
    }
    const { id: admin } = await make.member(school, { role: 'admin' });
    expect((await hours(admin, [SUNDAY])).status).toBe(200);
  });

  it('are those of one of two concurrent changes, never of both', async () => {
    const { id: tutor } = await make.tutor(school);
    for (let round = 0; round < 5; round++) {
      const wanted = [1, 2, 3, 4].map((day_of_week) => [{ ...SUNDAY, day_of_week }]);
      const answers = await Promise.all(wanted.map((one) => hours(tutor, one)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const { data } = (await api.get(`/v1/availabilities?tutor_id=${tutor}`, key)).body as { data: Row[] };
      expect(data).toHaveLength(1);
    }
  });
});

describe('time off', () => {
  it('is replaced as a whole, keeps the ids of what stays, and is shown in order', async () => {
    const { id: tutor } = await make.tutor(school);
    const holidays = { starts_on: '2026-09-19', ends_on: '2026-10-04', note: 'School holidays' };
    const day = { starts_on: '2026-05-01', ends_on: '2026-05-01', note: null };
    const first = await timeOff(tutor, [holidays, { starts_on: '2026-05-01', ends_on: '2026-05-01' }]);
    expect(first).toMatchObject({ status: 200, body: { data: [day, holidays] } });
    expect(await timeOff(tutor, [day, holidays])).toEqual(first);
    const read = await api.get(`/v1/tutors/${tutor}/time-off`, key);
    expect(read.body).toEqual(first.body);
    const [kept] = (await timeOff(tutor, [{ ...holidays, note: null }, day])).body.data;
    expect(kept).toEqual(first.body.data[0]);
    for (const [id, as] of [[tutor, foreign], [NOBODY, key], [(await make.student(school)).id, key]] as const) {
      expect((await api.get(`/v1/tutors/${id}/time-off`, as)).status).toBe(404);
    }
    expect((await timeOff(tutor, [])).body).toEqual({ data: [] });
  }); // prettier-ignore

  it('is refused with an end before its start, and twice the same', async () => {
    const { id: tutor } = await make.tutor(school);
    const { body } = await timeOff(tutor, [{ starts_on: '2026-05-02', ends_on: '2026-05-01' }]);
    expect(body.detail).toMatchObject([{ loc: ['body', 'time_off', 0, 'ends_on'], type: 'value_error' }]);
    const twice = await timeOff(tutor, [1, 2].map(() => ({ starts_on: '2026-05-01', ends_on: '2026-05-01' })));
    expect(twice.body.detail).toMatchObject([{ loc: ['body', 'time_off', 1], type: 'value_error' }]);
  }); // prettier-ignore
});

describe('available slots', () => {
  it('are those of the weekly hours, an hour long unless asked otherwise', async () => {
    const { id: tutor } = await make.tutor(school);
    await hours(tutor, [SUNDAY]);
    const found = await slotsOf(tutor);
    expect(found).toHaveLength(9);
    expect([found[0], found.at(-1)]).toEqual(['2027-05-01T15:00:00.000Z', '2027-05-01T17:00:00.000Z']);
    expect(await slotsOf(tutor, '2027-05-02', '2027-05-02', '&duration=180')).toEqual(['2027-05-01T15:00:00.000Z']);
    const answer = await api.get(`/v1/tutors/${tutor}/available-slots?from=2027-05-01T15:00:00Z&to=2027-05-03`, key);
    expect(answer.body).toMatchObject({ tutor_id: tutor, duration_minutes: 60, from_date: '2027-05-02', to_date: '2027-05-03' });
    expect((answer.body as { slots: object[] }).slots[0]).toEqual({ starts_at: '2027-05-01T15:00:00.000Z', ends_at: '2027-05-01T16:00:00.000Z' });
    expect(await slotsOf(tutor, '2020-05-03')).toEqual([]);
  }); // prettier-ignore

  it('need bounds at most 62 days apart, in order', async () => {
    const { id: tutor } = await make.tutor(school);
    const path = `/v1/tutors/${tutor}/available-slots`;
    const faultsOf = async (query: string) => {
      const answer = await api.get(path + query, key);
      return [answer.status, ...(answer.body as { detail: Row[] }).detail.map(({ loc, type }) => `${String((loc as string[])[1])} ${String(type)}`)];
    };
    expect(await faultsOf('')).toEqual([422, 'from missing', 'to missing']);
    expect(await faultsOf('?from=2027-05-01&to=2027-07-03')).toEqual([422, 'to value_error']);
    expect((await api.get(`${path}?from=2027-05-01&to=2027-07-02`, key)).status).toBe(200);
    expect(await faultsOf('?from=2027-05-02&to=2027-05-01')).toEqual([422, 'to value_error']);
    expect(await faultsOf('?from=2027-05-02&to=2027-05-02&duration=4')).toEqual([422, 'duration greater_than_equal']);
    expect(await faultsOf('?from=2027-05-02&to=2027-05-02&duration=721')).toEqual([422, 'duration less_than_equal']);
    expect(await faultsOf('?from=2027-05-02&to=2027-05-01&duration=721&x=1')).toEqual([422, 'to value_error', 'duration less_than_equal', 'x extra_forbidden']);
  }); // prettier-ignore

  it('are without the sessions of the tutor here, and without time off', async () => {
    const tutor = await make.tutor(school);
    await make.tutor(other, { user: { id: tutor.id } });
    await hours(tutor.id, [SUNDAY]);
    const at = (time: string) => ({ tutorId: tutor.id, startsAt: new Date(`2027-05-01T${time}Z`) });
    await make.session(school, { ...at('16:00'), status: 'pending' });
    await make.session(school, { ...at('17:00'), status: 'cancelled' });
    await make.session(other, at('15:00'));
    await make.session(school, { startsAt: new Date('2027-05-01T15:00Z') });
    expect(await slotsOf(tutor.id)).toEqual(['2027-05-01T15:00:00.000Z', '2027-05-01T17:00:00.000Z']);
    await timeOff(tutor.id, [{ starts_on: '2027-05-02', ends_on: '2027-05-02' }]);
    expect(await slotsOf(tutor.id, '2027-05-02', '2027-05-09')).toHaveLength(9);
    expect(await slotsOf(tutor.id)).toEqual([]);
  });

  it('can each be booked, and go with the booking until it is cancelled', async () => {
    const { id: tutor } = await make.tutor(school);
    const { id: student_id } = await make.student(school);
    const booking = await api.key(school, { scopes: ['read', 'sessions:write'] });
    const post = (path: string, body: object) => supertest(api.server).post(path).set('Authorization', `Token token=${booking}`).send(body);
    await hours(tutor, [SUNDAY, { ...SUNDAY, start_time: '23:00', end_time: '24:00' }]);
    // The first of these Sundays loses an hour.
    const [from, to] = ['2027-10-03', '2027-10-10'] as const;
    for (let offered = await slotsOf(tutor, from, to); offered.length > 0; offered = await slotsOf(tutor, from, to)) {
      const starts_at = offered[Math.floor(offered.length / 2)]!;
      const body = { tutor_id: tutor, student_id, starts_at, duration_minutes: 60 };
      const booked = await post('/v1/sessions', body);
      expect([starts_at, booked.status]).toEqual([starts_at, 201]);
      expect((await post('/v1/sessions', body)).status).toBe(409);
      expect(await slotsOf(tutor, from, to)).not.toContain(starts_at);
    }
    const { data } = (await api.get(`/v1/sessions?tutor_id=${tutor}`, booking)).body as { data: Row[] };
    expect(data.length).toBeGreaterThanOrEqual(4);
    await post(`/v1/sessions/${data[0]!.id}/cancel`, {});
    expect(await slotsOf(tutor, from, to)).toContain(data[0]!.starts_at);
  });

  it('follow the clock on the wall across its changes', async () => {
    const { id: tutor } = await make.tutor(school);
    await hours(tutor, [{ ...SUNDAY, end_time: '24:00' }]);
    expect((await slotsOf(tutor, '2027-10-03')).length).toBe((await slotsOf(tutor, '2027-10-10')).length - 4);
    expect((await slotsOf(tutor, '2027-04-04')).length).toBe((await slotsOf(tutor, '2027-04-11')).length + 4);
    const [before, after] = [await slotsOf(tutor, '2027-09-26'), await slotsOf(tutor, '2027-10-10')];
    expect([before[0], after[0]]).toEqual(['2027-09-25T15:00:00.000Z', '2027-10-09T14:00:00.000Z']);
    expect(after.at(-1)).toBe('2027-10-10T12:00:00.000Z');
  });

  it('are none for staff who have not accepted or have left, and 404 for anybody else', async () => {
    for (const status of ['pending', 'archived'] as const) {
      const { id: tutor } = await make.tutor(school, { status });
      await hours(tutor, [SUNDAY]);
      expect(await slotsOf(tutor)).toEqual([]);
    }
    const { id: tutor } = await make.tutor(school);
    const { id: student } = await make.student(school);
    const query = '/available-slots?from=2027-05-02&to=2027-05-02';
    for (const [id, as] of [[tutor, foreign], [student, key], [NOBODY, key]] as const) {
      expect((await api.get(`/v1/tutors/${id}${query}`, as)).status).toBe(404);
    }
  }); // prettier-ignore
});
