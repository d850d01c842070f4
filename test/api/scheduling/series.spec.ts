import { v7 as uuidv7 } from 'uuid';
import { CalendarFixture, type ShownSession } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

interface Series {
  series_id: string;
  data: ShownSession[];
  skipped: { starts_at: string; ends_at: string; session_id: string }[];
}

const api = await TestApi.shared();

async function open() {
  const at = await CalendarFixture.open(api);
  const series = (startsAt: string, more: object) =>
    at.send<Series>('post', '/v1/session-series', {
      tutor_id: at.t1,
      student_id: at.students[0],
      starts_at: startsAt,
      duration_minutes: 60,
      every_weeks: 1,
      ...more,
    });
  const cancel = (id: string, body?: object) => at.send<{ data: ShownSession[] }>('post', `/v1/session-series/${id}/cancel`, body);
  return { at, series, cancel };
}

const inMelbourne = (instant: string) =>
  new Intl.DateTimeFormat('en-AU', { timeZone: 'Australia/Melbourne', timeStyle: 'short', hourCycle: 'h23' }).format(new Date(instant));

describe('a series', () => {
  it('keeps its time of day across a change of the clocks', async () => {
    const { at, series } = await open();
    // The clocks go forward on 4 October.
    const { status, body } = await series('2026-09-08T06:00:00Z', { count: 10 });
    expect([status, body.data.length, body.skipped]).toEqual([201, 10, []]);
    expect(new Set(body.data.map(({ starts_at }) => inMelbourne(starts_at)))).toEqual(new Set(['16:00']));
    expect(new Set(body.data.map(({ starts_at }) => starts_at.slice(11, 16)))).toEqual(new Set(['06:00', '05:00']));
    expect(new Set(body.data.map(({ series_id }) => series_id))).toEqual(new Set([body.series_id]));
    expect(await at.sessions()).toHaveLength(10);
    expect(await at.participants(body.data[9]!.id)).toMatchObject([{ student_id: at.students[0], status: 'accepted' }]);
  });

  it('ends with a day, and takes place every so many weeks', async () => {
    const { series } = await open();
    const { body } = await series('2027-02-02T05:00:00Z', { every_weeks: 2, until: '2027-03-02' });
    expect(body.data.map(({ starts_at }) => starts_at.slice(0, 10))).toEqual(['2027-02-02', '2027-02-16', '2027-03-02']);
    expect((await series('2027-02-02T09:00:00Z', { until: '2027-02-01' })).status).toBe(422);
    expect((await series('2027-02-02T09:00:00Z', { until: '2029-02-01' })).body.detail[0]!.loc).toEqual(['body', 'until']);
    // Together with what else is wrong, and without computing the times of thousands of years, which took ten seconds.
    const began = performance.now();
    for (const until of ['2027-02-01', '2029-02-01', '9999-12-31']) {
      const { body } = await series('2027-02-02T09:00:00Z', { title: '', until });
      expect(body.detail.map(({ loc }) => loc[1]).sort()).toEqual(['title', 'until']);
    }
    expect(performance.now() - began).toBeLessThan(2_000);
    for (const more of [{}, { count: 1 }, { count: 61 }, { count: 5, until: '2027-03-01' }, { count: 5, every_weeks: 5 }]) {
      expect([more, (await series('2027-02-02T09:00:00Z', more)).status]).toEqual([more, 422]);
    }
  });

  it('books all or nothing, unless what is taken may be left out', async () => {
    const { at, series } = await open();
    const { body: other } = await at.book('2027-02-09T05:30:00Z');
    const refused = await series('2027-02-02T05:00:00Z', { count: 4 });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'session_overlap', details: { session_id: other.id } } } });
    expect(await at.sessions()).toHaveLength(1);
    const { body } = await series('2027-02-02T05:00:00Z', { count: 4, skip_conflicts: true });
    expect(body.data).toHaveLength(3);
    expect(body.skipped).toEqual([{ starts_at: '2027-02-09T05:00:00.000Z', ends_at: '2027-02-09T06:00:00.000Z', session_id: other.id }]);
    expect((await series('2027-02-02T05:00:00Z', { count: 4, skip_conflicts: true })).status).toBe(409);
  });

  it('is cancelled from a day of the organization on, and again unchanged', async () => {
    const { at, series, cancel } = await open();
    const { body } = await series('2027-02-01T20:00:00Z', { count: 4 });
    // The third is on 16 February in Melbourne, and on the 15th in UTC.
    const ended = await cancel(body.series_id, { from: '2027-02-16' });
    expect([ended.status, ended.body.data.map(({ id, status }) => [id, status])]).toEqual([
      200,
      body.data.slice(2).map(({ id }) => [id, 'cancelled']),
    ]);
    expect((await cancel(body.series_id, { from: '2027-02-16' })).body).toEqual(ended.body);
    expect((await at.sessions('status=scheduled')).length).toBe(2);
    expect((await cancel(uuidv7())).status).toBe(404);
    const other = await CalendarFixture.open(api);
    expect((await other.send('post', `/v1/session-series/${body.series_id}/cancel`)).status).toBe(404);
    expect((await cancel(body.series_id)).body.data).toHaveLength(4);
  });
});
