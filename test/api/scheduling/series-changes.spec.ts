import { v7 as uuidv7 } from 'uuid';
import { CalendarFixture, type Sent, type ShownSession } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

interface Series {
  series_id: string;
  data: (ShownSession & { series_detached: boolean; meeting_url: string | null })[];
  skipped: { starts_at: string; session_id: string; in_the_way: string }[];
  detached: string[];
}

const api = await TestApi.shared();

/** Tuesdays at 16:00 in Melbourne, from 2 February 2027. */
async function open(count = 4) {
  const at = await CalendarFixture.open(api);
  const { body } = await at.send<Series>('post', '/v1/session-series', {
    tutor_id: at.t1,
    student_id: at.students[0],
    starts_at: '2027-02-02T05:00:00Z',
    duration_minutes: 60,
    every_weeks: 1,
    count,
  });
  const path = `/v1/session-series/${body.series_id}`;
  const ids = body.data.map(({ id }) => id);
  return {
    ...{ at, path, ids, id: body.series_id },
    change: (fields: object) => at.send<Series>('patch', path, fields),
    extend: (fields: object) => at.send<Series>('post', `/v1/session-series/${body.series_id}/extend`, fields),
    pattern: async () => (await at.send<Record<string, unknown>>('get', path)).body,
    starts: async () => (await at.sessions()).map(({ starts_at }) => starts_at).sort(),
  };
}

const startsOf = ({ body }: Sent<Series>) => body.data.map(({ starts_at }) => starts_at);

describe('a change of the rest of a series', () => {
  it('moves what is ahead by days and to a time of the clock, also across a change of the clocks', async () => {
    const { change, pattern, ids } = await open(12);
    const changed = await change({ from: '2027-02-16', starts_at: '2027-02-18T06:30:00Z', duration_minutes: 90 });
    expect(changed.status).toBe(200);
    expect(changed.body.data.map(({ id }) => id)).toEqual(ids.slice(2));
    // The clocks go back on 4 April.
    const days = ['2027-02-18', '2027-02-25', '2027-03-04', '2027-03-11', '2027-03-18', '2027-03-25', '2027-04-01'];
    expect(startsOf(changed)).toEqual([
      ...days.map((day) => `${day}T06:30:00.000Z`),
      ...['2027-04-08', '2027-04-15', '2027-04-22'].map((day) => `${day}T07:30:00.000Z`),
    ]);
    expect(new Set(changed.body.data.map(({ duration_minutes }) => duration_minutes))).toEqual(new Set([90]));
    expect(new Set(changed.body.data.map(({ series_detached }) => series_detached))).toEqual(new Set([false]));
    expect(await pattern()).toMatchObject({
      ...{ starts_at: '2027-02-18T06:30:00.000Z', last_starts_at: '2027-04-22T07:30:00.000Z', duration_minutes: 90 },
    });
  });

  it('lets one take the time that another had', async () => {
    const { at, change, starts } = await open();
    const later = ['2027-02-09', '2027-02-16', '2027-02-23', '2027-03-02'].map((day) => `${day}T05:00:00.000Z`);
    const changed = await change({ from: '2027-02-01', starts_at: later[0] });
    expect([changed.status, startsOf(changed)]).toEqual([200, later]);
    const again = await change({ from: '2027-02-01', starts_at: '2027-02-09T05:30:00Z' });
    expect(again.status).toBe(200);
    expect(await starts()).toEqual(later.map((time) => time.replace('05:00', '05:30')));
    // The constraint still watches over them.
    expect((await at.book('2027-02-16T05:00:00Z')).status).toBe(409);
  });

  it('leaves what was changed by hand, and lists it', async () => {
    const { at, change, ids } = await open();
    expect((await at.put(ids[1]!, { title: 'Before the test', starts_at: '2027-02-09T05:00:00Z' })).body).toMatchObject({ series_detached: false });
    expect((await at.put(ids[1]!, { duration_minutes: 45 })).body).toMatchObject({ series_detached: true });
    expect((await at.put(ids[2]!, { student_rate_cents: 100 })).body).toMatchObject({ series_detached: true });
    const changed = await change({ from: '2027-02-01', tutor_id: at.t2 });
    expect(changed.body.detached).toEqual([ids[1], ids[2]]);
    expect(changed.body.data.map(({ id, tutor_id }) => [id, tutor_id])).toEqual([ids[0], ids[3]].map((id) => [id, at.t2]));
  });

  it('is all or nothing, names all that is in the way, and can leave those as they are', async () => {
    const { at, change, starts, ids } = await open();
    const before = await starts();
    const [one, two] = [await at.book('2027-02-09T07:00:00Z'), await at.book('2027-02-23T07:30:00Z')];
    const wish = { from: '2027-02-01', starts_at: '2027-02-02T07:00:00Z' };
    const refused = await change(wish);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'session_overlap', details: { session_id: one.body.id } } } });
    const { clashes } = refused.body.error.details as unknown as { clashes: object[] };
    expect(clashes).toEqual([
      { session_id: ids[1], starts_at: '2027-02-09T07:00:00.000Z', ends_at: '2027-02-09T08:00:00.000Z', in_the_way: one.body.id },
      { session_id: ids[3], starts_at: '2027-02-23T07:00:00.000Z', ends_at: '2027-02-23T08:00:00.000Z', in_the_way: two.body.id },
    ]);
    expect((await starts()).filter((time) => time.includes('T05:00'))).toEqual(before);
    const changed = await change({ ...wish, skip_conflicts: true });
    expect([changed.status, changed.body.data.map(({ id }) => id)]).toEqual([200, [ids[0], ids[2]]]);
    expect(changed.body.skipped).toEqual(clashes);
    expect((await at.send('get', `/v1/sessions/${ids[1]}`)).body).toMatchObject({ starts_at: '2027-02-09T05:00:00.000Z', series_detached: true });
    expect((await change({ ...wish, allow_overlap: true })).body.detached).toEqual([ids[1], ids[3]]);
  });

  it('counts a session that stays as in the way of the next one', async () => {
    const { at, change, ids } = await open(3);
    await at.book('2027-02-16T05:00:00Z', { tutor_id: at.t2 });
    await at.book('2027-02-23T05:00:00Z');
    // The third cannot move, so the second cannot, and so the first cannot.
    const refused = await change({ from: '2027-02-01', starts_at: '2027-02-09T05:00:00Z', skip_conflicts: true });
    expect(refused.status).toBe(409);
    const { clashes } = refused.body.error.details as unknown as { clashes: { session_id: string }[] };
    expect(clashes.map(({ session_id }) => session_id)).toEqual([ids[2], ids[1], ids[0]]);
  });

  it('changes prices and places, and refuses what is not of the organization', async () => {
    const { id, change, path, pattern } = await open();
    const room = 'https://meet.example.org/one';
    const changed = await change({ student_rate_cents: 5000, meeting_url: room });
    expect(changed.body.data.map((one) => [one.student_rate_cents, one.meeting_url])).toEqual(Array(4).fill([5000, room]));
    expect(await pattern()).toMatchObject({ student_rate_cents: 5000, meeting_url: room, tutor_pay_rate_cents: null });
    for (const field of ['tutor_id', 'location_id', 'subject_id']) {
      expect([field, (await change({ [field]: uuidv7() })).status]).toEqual([field, 404]);
      expect([field, (await change({ from: '2030-01-01', [field]: uuidv7() })).status]).toEqual([field, 404]);
    }
    expect((await change({ from: '2030-01-01', starts_at: '2030-01-01T05:00:00Z' })).body.detail[0]!.loc).toEqual(['body', 'starts_at']);
    expect((await change({})).body).toEqual({ series_id: id, data: [], skipped: [], detached: [] });
    const other = await CalendarFixture.open(api);
    for (const method of ['get', 'patch'] as const) expect((await other.send(method, path, {})).status).toBe(404);
  });
});

describe('an extension of a series', () => {
  it('goes on after the last of its times, for whoever took part last', async () => {
    const { at, extend, pattern } = await open();
    const more = await extend({ count: 2 });
    expect([more.status, startsOf(more)]).toEqual([201, ['2027-03-02T05:00:00.000Z', '2027-03-09T05:00:00.000Z']]);
    expect(await at.participants(more.body.data[1]!.id)).toMatchObject([{ student_id: at.students[0], status: 'accepted' }]);
    // After the clocks went back.
    const until = await extend({ until: '2027-04-06' });
    expect(startsOf(until).at(-1)).toBe('2027-04-06T06:00:00.000Z');
    expect(await pattern()).toMatchObject({ last_starts_at: '2027-04-06T06:00:00.000Z', starts_at: '2027-02-02T05:00:00.000Z' });
    for (const wrong of [{ until: '2027-04-06' }, { until: '2030-01-01' }, {}, { count: 1, until: '2028-01-01' }, { count: 61 }]) {
      expect([wrong, (await extend(wrong)).status]).toEqual([wrong, 422]);
    }
  });

  it('books all or nothing, unless what is taken may be left out', async () => {
    const { at, extend } = await open();
    await at.book('2027-03-02T05:30:00Z');
    expect((await extend({ count: 2 })).status).toBe(409);
    expect(startsOf(await extend({ count: 2, skip_conflicts: true }))).toEqual(['2027-03-09T05:00:00.000Z']);
  });

  it('goes on with whoever took over, and waits for a tutor', async () => {
    const { at, change, extend } = await open();
    const key = await api.key(at.school, { scopes: ['read', 'accounts:write'] });
    const leave = (tutor: string, how: object) => at.send('post', `/v1/tutors/${tutor}/offboard`, how, { key });
    expect((await leave(at.t1, { sessions: 'hand_over', hand_over_to: at.t2 })).status).toBe(200);
    expect((await extend({ count: 1 })).body.data[0]).toMatchObject({ tutor_id: at.t2 });
    await leave(at.t2, { sessions: 'unassign' });
    expect((await extend({ count: 1 })).body.error.code).toBe('invalid_state');
    const another = await api.make.tutor(at.school);
    expect((await change({ tutor_id: another.id })).body.data).toHaveLength(5);
    expect((await extend({ count: 1 })).body.data[0]).toMatchObject({ tutor_id: another.id });
  });
});

it('series are listed by their tutor', async () => {
  const { at, id } = await open();
  const list = async (query: string) =>
    (await at.send<{ data: { id: string }[] }>('get', `/v1/session-series${query}`)).body.data.map((one) => one.id);
  expect([await list(''), await list(`?tutor_id=${at.t1}`), await list(`?tutor_id=${at.t2}`)]).toEqual([[id], [id], []]);
});
