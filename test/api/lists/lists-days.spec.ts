import { startOfDay } from '@app/scheduling';
import type { List } from '../../../apps/api/src/http/lists/list.js';
import { TestApi } from '../../support/http/api.js';
import { createListFixture, tableOf } from '../../support/data/list-rows.js';
import type { Row } from '../../support/data/sample-rows.js';
import { documentOf, keyedReads, listAt, queryOf } from '../../support/http/routes.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;
const document = await documentOf(api);

/** The lists with bounds, their column, and whether it is a day. */
const bounded = keyedReads(api)
  .map(listAt)
  .filter((list) => list !== undefined)
  .flatMap((list) => {
    const from = list.parameters.find(({ comparison }) => comparison === 'since' || comparison === 'sinceDay');
    return from?.name === 'from' ? [{ list, column: from.column!, ofDays: from.comparison === 'sinceDay' }] : [];
  });

/** The first instants of three days in a row, by the zone's offset on each: the clocks change on the second. */
const CASES = [
  {
    zone: 'Australia/Melbourne', days: ['2026-10-03', '2026-10-04', '2026-10-05'],
    starts: ['2026-10-02T14:00:00.000Z', '2026-10-03T14:00:00.000Z', '2026-10-04T13:00:00.000Z', '2026-10-05T13:00:00.000Z'],
  },
  {
    zone: 'Australia/Melbourne', days: ['2026-04-04', '2026-04-05', '2026-04-06'],
    starts: ['2026-04-03T13:00:00.000Z', '2026-04-04T13:00:00.000Z', '2026-04-05T14:00:00.000Z', '2026-04-06T14:00:00.000Z'],
  },
  {
    zone: 'America/New_York', days: ['2026-03-07', '2026-03-08', '2026-03-09'],
    starts: ['2026-03-07T05:00:00.000Z', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z', '2026-03-10T04:00:00.000Z'],
  },
  {
    zone: 'America/New_York', days: ['2026-10-31', '2026-11-01', '2026-11-02'],
    starts: ['2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z', '2026-11-03T05:00:00.000Z'],
  },
]; // prettier-ignore

/** Each list takes its share of them. */
const SHARED = CASES.map((one, number) => ({ ...one, number }));

const justBefore = (instant: string) => new Date(Date.parse(instant) - 1).toISOString();

/** What else a row needs, whose time this is. */
const BESIDE: Record<string, (at: string) => Row> = {
  request_log: () => ({ status: 200 }),
  sessions: (at) => ({ ends_at: new Date(Date.parse(at) + 3_600_000).toISOString() }),
  adjustments: (at) => ({ period_end: at }),
};

/** One row for each value, and what the list shows for a query: the values of its rows. */
async function filled({ list, column }: { list: List; column: string }, zone: string, values: string[]) {
  const { id: school } = await make.organization({ timeZone: zone });
  const stage = await createListFixture(make, new Date('2020-01-01'));
  const known = { organization_id: school, assigned_by: stage.tutor };
  const { id: tutor_id } = await make.tutor(school);
  const { id: student_id } = await make.student(school);
  // Results are seen by whoever has a session with their student.
  if (tableOf(list) === 'results') await make.session(school, { tutorId: tutor_id, studentId: student_id });
  const rows = values.map((value) => ({ [column]: value, ...BESIDE[tableOf(list)]?.(value) }));
  const stored = await make.insert(tableOf(list), rows, { ...known, tutor_id, student_id });
  const valueOf = new Map(stored.map(({ id }, index) => [id as string, values[index]!]));
  const key = await api.key(school);
  const path = list.path.replace(':tutor_id', tutor_id);
  return async (query: Record<string, string>) => {
    const answer = await api.get(`/${path}?${new URLSearchParams({ limit: '100', ...query }).toString()}`, key);
    expect([list.id, query, answer.status]).toEqual([list.id, query, 200]);
    const { data } = answer.body as { data: { id: string }[] };
    return data.flatMap(({ id }) => valueOf.get(id) ?? []).sort();
  };
}

describe("a day as a bound is one of the organization's zone", () => {
  it('on every list with bounds', () => {
    expect(bounded.length).toBeGreaterThanOrEqual(4);
    expect(bounded.some(({ ofDays }) => ofDays) && bounded.some(({ ofDays }) => !ofDays)).toBe(true);
  });

  it.each(SHARED)('of instants, across a change of the clocks in $zone ($days.1)', async ({ zone, days, starts, number }) => {
    // The first and the last millisecond of each day, and of their neighbours.
    const instants = starts.flatMap((start) => [justBefore(start), start]);
    for (const bound of someOf(bounded.filter(({ ofDays }) => !ofDays), number, CASES.length, 2)) {
      const shown = await filled(bound, zone, instants);
      for (const [index, day] of days.entries()) {
        const [start, next] = [starts[index]!, starts[index + 1]!];
        expect([bound.list.id, await shown({ from: day })]).toEqual([bound.list.id, instants.filter((at) => at >= start)]);
        expect([bound.list.id, await shown({ to: day })]).toEqual([bound.list.id, instants.filter((at) => at < next)]);
        expect([bound.list.id, await shown({ from: day, to: day })]).toEqual([bound.list.id, [start, justBefore(next)]]);
        // The same bounds as instants, and a day beside an instant.
        expect(await shown({ from: start, to: justBefore(next) })).toEqual([start, justBefore(next)]);
        expect(await shown({ from: justBefore(next), to: day })).toEqual([justBefore(next)]);
        expect(await shown({ from: day, to: start })).toEqual([start]);
      }
    }
  }); // prettier-ignore

  it.each(SHARED)('of days, across a change of the clocks in $zone ($days.1)', async ({ zone, days, starts, number }) => {
    for (const bound of someOf(
      bounded.filter(({ ofDays }) => ofDays),
      number,
      CASES.length,
      2,
    )) {
      const shown = await filled(bound, zone, days);
      for (const [index, day] of days.entries()) {
        const start = starts[index]!;
        expect(await shown({ from: day })).toEqual(days.slice(index));
        expect(await shown({ to: day })).toEqual(days.slice(0, index + 1));
        // An instant within a day excludes it from below, and includes it from above.
        expect(await shown({ from: start })).toEqual(days.slice(index));
        expect(await shown({ from: new Date(Date.parse(start) + 1).toISOString() })).toEqual(days.slice(index + 1));
        expect(await shown({ to: start })).toEqual(days.slice(0, index + 1));
        expect(await shown({ to: justBefore(start) })).toEqual(days.slice(0, index));
      }
    }
  });

  it.each(CASES)('as `since` of messages, across a change of the clocks in $zone ($days.1)', async ({ zone, days, starts }) => {
    const { id: school } = await make.organization({ timeZone: zone });
    const { id } = await make.conversation({ participants: [(await make.tutor(school)).id] });
    const instants = starts.flatMap((start) => [justBefore(start), start]);
    for (const at of instants) await make.message(id, { createdAt: new Date(at) });
    const key = await api.key(school);
    for (const [index, day] of days.entries()) {
      for (const since of [day, starts[index]!]) {
        const { body } = (await api.get(`/v1/conversations/${id}/messages?since=${since}`, key)) as { body: { data: { created_at: string }[] } };
        expect(body.data.map(({ created_at }) => created_at).sort()).toEqual(instants.filter((at) => at >= starts[index]!));
      }
    }
  });

  it('refuses an end before the beginning, whichever of the two is a day', async () => {
    const { id } = await make.organization({ timeZone: 'Australia/Melbourne' });
    const key = await api.key(id);
    const { id: tutor } = await make.tutor(id);
    for (const { list } of bounded) {
      const path = `/${list.path.replace(':tutor_id', tutor)}`;
      for (const [from, to, status] of [
        ['2026-05-02', '2026-05-01', 422],
        ['2026-05-01T14:00:00Z', '2026-05-01', 422],
        ['2026-05-01T13:59:59.999Z', '2026-05-01', 200],
        ['2026-05-02', '2026-05-01T13:59:59.999Z', 422],
        ['2026-05-02', '2026-05-01T14:00:00Z', 200],
      ] as const) {
        expect([list.id, from, to, (await api.get(`${path}?from=${from}&to=${to}`, key)).status]).toEqual([list.id, from, to, status]);
      }
    }
  }); // prettier-ignore

  it.each([
    ['Pacific/Apia', '2011-12-29', '2011-12-30', '2011-12-31', 0],
    ['Pacific/Fakaofo', '2011-12-29', '2011-12-30', '2011-12-31', 1],
    ['Pacific/Kwajalein', '1993-08-20', '1993-08-21', '1993-08-22', 2],
    ['Pacific/Kiritimati', '1994-12-30', '1994-12-31', '1995-01-01', 3],
  ] as const)('has an empty range for a day that %s skipped, and never refuses it', async (timeZone, before, skipped, after, number) => {
    expect(startOfDay(skipped, timeZone)).toEqual(startOfDay(after, timeZone));
    const { id } = await make.organization({ timeZone });
    const key = await api.key(id);
    const { id: tutor } = await make.tutor(id);
    const ranged = keyedReads(api).filter((route) => ['from', 'to'].every((name) => queryOf(document, route).has(name)));
    expect(ranged.length).toBeGreaterThan(bounded.length);
    for (const { path } of someOf(ranged, number, 4, 4)) {
      for (const [from, to] of [[skipped, skipped], [before, skipped], [skipped, after], [`${before}T12:00:00Z`, skipped], [after, skipped]]) {
        const subject = path.endsWith('/v1/available-slots') ? '&subject_id=mathematics' : '';
        const answer = await api.get(`${path.replace(':tutor_id', tutor)}?from=${from}&to=${to}${subject}`, key);
        expect([path, from, to, answer.status]).toEqual([path, from, to, 200]);
      }
    }
    // Nothing lies in it, not even the instant at which it would have been.
    for (const bound of someOf(bounded.filter(({ ofDays }) => !ofDays), number, 4, 2)) {
      const instants = [justBefore(startOfDay(after, timeZone).toISOString()), startOfDay(after, timeZone).toISOString()];
      const shown = await filled(bound, timeZone, instants);
      expect([bound.list.id, await shown({ from: skipped, to: skipped })]).toEqual([bound.list.id, []]);
      expect(await shown({ from: before, to: skipped })).toEqual(instants.slice(0, 1));
      expect(await shown({ from: skipped, to: after })).toEqual(instants.slice(1));
    }
  }); // prettier-ignore

  it('reaches the ends of the calendar in every zone', async () => {
    for (const [number, timeZone] of ['Australia/Melbourne', 'America/New_York', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'].entries()) {
      const { id } = await make.organization({ timeZone });
      const key = await api.key(id);
      const { id: tutor } = await make.tutor(id);
      for (const { list } of someOf(bounded, number, 4, 4)) {
        const path = `/${list.path.replace(':tutor_id', tutor)}`;
        for (const query of [
          'from=0001-01-01&to=9999-12-31',
          'from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59.999Z',
          'from=9999-12-31',
          'to=0001-01-01',
        ]) {
          expect([list.id, timeZone, query, (await api.get(`${path}?${query}`, key)).status]).toEqual([list.id, timeZone, query, 200]);
        }
      }
    }
  }); // prettier-ignore

  it('follows the zone from the moment that it changes', async () => {
    const payments = bounded.find(({ list }) => list.id === 'list_payments')!;
    const shown = await filled(payments, 'Australia/Melbourne', ['2026-05-01T13:00:00.000Z']);
    expect(await shown({ from: '2026-05-02' })).toEqual([]);
    await make.query(`UPDATE organizations SET time_zone = 'Pacific/Auckland' WHERE id = (
      SELECT organization_id FROM payments WHERE created_at = '2026-05-01T13:00:00.000Z' LIMIT 1)`);
    expect(await shown({ from: '2026-05-02' })).toEqual(['2026-05-01T13:00:00.000Z']);
  });
});
