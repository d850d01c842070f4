import { TestApi } from '../../support/http/api.js';
import { documentOf, filteredLists, filtersOf, nameOf, type Route } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;
const document = await documentOf(api);
const { id: school } = await make.organization({ timeZone: 'UTC' });
const key = await api.key(school, { platformBlog: true });
const tutorId = (await make.tutor(school)).id;

const lists = (): Route[] => filteredLists(api, document);

describe('the value of a filter', () => {
  it('of a date range must not end before it begins', async () => {
    const ranges = lists().filter((route) => filtersOf(document, route).has('from'));
    expect(ranges.length).toBeGreaterThan(2);
    const refused = [
      ['2026-05-02', '2026-05-01'],
      ['2026-05-02', '2026-05-01T23:59:59.999Z'],
      ['2026-05-02T00:00:00Z', '2026-05-01'],
      ['2026-05-01T00:00:00-01:00', '2026-05-01T00:59:00Z'],
    ];
    const taken = [
      ['2026-05-01', '2026-05-01'],
      ['2026-05-01T23:59:59.999Z', '2026-05-01'],
      ['2026-05-01T12:00Z', '2026-05-01T12:00Z'],
      ['2026-05-01T00:00:00+01:00', '2026-04-30'],
    ];
    for (const route of ranges) {
      const path = route.path.replace(':tutor_id', tutorId);
      for (const [range, status] of [...refused.map((range) => [range, 422] as const), ...taken.map((range) => [range, 200] as const)]) {
        const [from, to] = range.map(encodeURIComponent);
        for (const mode of ['', '&cursor=start']) {
          const answer = await api.get(`${path}?from=${from}&to=${to}${mode}`, key);
          const faults = (answer.body as { detail?: object[] }).detail;
          expect([nameOf(route), ...range, answer.status]).toEqual([nameOf(route), ...range, status]);
          if (status === 422) expect(faults).toMatchObject([{ loc: ['query', 'to'], type: 'value_error' }]);
        }
      }
    }
  });
});
