import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import type { TestApi } from '../../support/http/api.js';
import {
  type Answer,
  type ApiDocument,
  call,
  documentOf,
  filtersOf,
  keyedReads,
  nameOf,
  pathWith,
  queryOf,
  type Route,
  telling,
} from '../../support/http/routes.js';
import { checksums } from '../../support/database/checksums.js';
import { parametersOf, type Fixtures } from '../../support/data/fixtures.js';
import { NAMING } from '../../support/http/valid-bodies.js';
import { someOf } from '../../support/fuzz/hostile-client.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';

/** Path parameters that are ids of logins. */
const PEOPLE = ['tutor_id', 'student_id', 'parent_id'];

/** With row-level security off, only the WHERE clauses keep organizations apart, so a statement that forgets its organization fails. */
describe.each([
  ['on', true],
  ['off', false],
])('with row-level security %s', (_, rowSecurity) => {
  let sweep: TenancySweep;
  let api: TestApi;
  let fixtures: Fixtures;
  let document: ApiDocument;

  beforeAll(async () => {
    sweep = await TenancySweep.open({ rowSecurity });
    ({ api, fixtures } = sweep);
    document = await documentOf(api);
  });
  afterAll(() => sweep.stop());

  /** Every read with an id in its path, with the name of the parameter. */
  const pathCells = (): { route: Route; name: string }[] => keyedReads(api).flatMap((route) => parametersOf(route).map((name) => ({ route, name })));

  /** Every read with an id among its filters, with the name of the filter. */
  const queryCells = (): { route: Route; name: string; format: string }[] =>
    keyedReads(api).flatMap((route) =>
      [...filtersOf(document, route)]
        .filter(([, { format = '' }]) => NAMING.includes(format))
        .map(([name, { format = '' }]) => ({ route, name, format })),
    );

  describe('an id in a path', () => {
    it('returns the own record, and the same 404 for foreign, missing and malformed ids', async () => {
      expect(pathCells().length).toBeGreaterThan(4);
      expect(await sweep.foreignReads(keyedReads(api))).toEqual([]);
    });

    it('is case-insensitive, and of another kind of record a 404', async () => {
      const wrong: string[] = [];
      for (const { route, name } of pathCells()) {
        const own = await sweep.get(pathWith(route, fixtures.a, name, fixtures.a.path[name]!.toUpperCase()), fixtures.a);
        if (own.text !== (await call(api, route, fixtures.a)).text) wrong.push(`${nameOf(route)} ${name} in capitals: ${own.status}`);
        // People share one id space. Any other id is as unknown as one that does not exist, so one of them is enough.
        const others = Object.entries(fixtures.a.path).filter(([other]) => other !== name);
        const [first] = others.filter(([other]) => !PEOPLE.includes(other));
        for (const [other, id] of [first!, ...others.filter(([other]) => PEOPLE.includes(other))]) {
          const { status } = await sweep.get(pathWith(route, fixtures.a, name, id), fixtures.a);
          if (status !== 404) wrong.push(`${nameOf(route)} ${name} took the ${other}: ${status}`);
        }
      }
      expect(wrong).toEqual([]);
    });
  });

  describe('an id in a filter', () => {
    it('returns own records, nothing for foreign or missing ids, and 422 for malformed ones', async () => {
      const wrong: string[] = [];
      expect(queryCells().length).toBeGreaterThan(5);
      for (const { own, foreign, malformed } of sweep.views()) {
        for (const [number, { route, name, format }] of queryCells().entries()) {
          const nothing = someOf(malformed, number, Infinity, 2).map(encodeURIComponent);
          // What is free is only to come.
          const days = /slots$/.test(route.path) ? '&from=2036-05-01&to=2036-05-31' : '';
          const read = async (id: string) => call(api, route, own, { query: `?${name}=${id}${days}` });
          const sample = own.query[name];
          if (!sample) {
            throw new Error(`${nameOf(route)}: no row of test/support/data/organization-rows.ts has a value for "${name}"`);
          }
          const size = ({ text }: Answer) => {
            const { data, slots, total = 0 } = JSON.parse(text) as { data?: unknown[]; slots?: unknown[]; total?: number };
            return (data ?? slots)?.length ?? total;
          };
          if (size(await read(sample)) === 0) wrong.push(`${nameOf(route)}?${name} shows its owner nothing`);
          const absent = await read(uuidv7());
          expect([absent.status, size(absent)]).toEqual([200, 0]);
          const empty = JSON.stringify(telling(absent));
          const unknown = format === 'uuid' ? [] : nothing;
          for (const id of [...foreign.map(({ query }) => query[name]!), uuidv4(), ...unknown]) {
            const answer = JSON.stringify(telling(await read(id)));
            if (answer !== empty) wrong.push(`${nameOf(route)} ${name}=${id}: ${answer}`);
          }
          for (const id of format === 'uuid' ? nothing : []) {
            const { status, text } = await read(id);
            const { detail } = JSON.parse(text) as { detail?: { loc: unknown; type: string }[] };
            const [fault] = detail ?? [];
            const right = status === 422 && JSON.stringify(fault?.loc) === `["query","${name}"]`;
            if (!right || fault?.type !== 'uuid_parsing') wrong.push(`${nameOf(route)} ${name}=${id}: ${status} ${text}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    });
  });

  describe('whatever a key reads', () => {
    /** Each way to read the route: in both paging modes, and with every switch that widens it. */
    function waysToRead(route: Route): string[] {
      const query = queryOf(document, route);
      const most = query.has('limit') ? [`limit=${query.get('limit')!.maximum!}`] : [];
      const switches = [...query].filter(([, schema]) => schema.type === 'boolean').map(([name]) => `${name}=true`);
      const plain = [...most].join('&');
      const wide = [...most, ...switches].join('&');
      const cursor = query.has('cursor') ? [[...most, ...switches, `cursor=${String(query.get('cursor')!.examples![0])}`].join('&')] : [];
      return [...new Set([plain, wide, ...cursor])].map((text) => (text ? `?${text}` : ''));
    }

    it('contains its own ids and none of another organization', async () => {
      const wrong: string[] = [];
      let own = 0;
      for (const { own: school, foreign } of sweep.views()) {
        for (const route of keyedReads(api)) {
          const [plain, ...others] = waysToRead(route);
          for (const query of [plain!, ...others]) {
            for (const key of [school.key, school.platformKey]) {
              const { status, text } = await call(api, route, school, { query, key });
              if (status !== 200) wrong.push(`${nameOf(route)}${query} ${status} ${text}`);
              for (const other of foreign) {
                const leaked = [other.id, ...other.ids].filter((id) => text.includes(id));
                if (leaked.length > 0) wrong.push(`${nameOf(route)}${query} shows ${leaked.join(', ')}`);
              }
              if ([school.id, ...school.ids].some((id) => text.includes(id))) own++;
              const { data } = JSON.parse(text) as { data?: unknown[] };
              if (data?.length === 0 && query === plain)
                throw new Error(`${nameOf(route)}${query} is empty: add a row of it to test/support/data/organization-rows.ts`);
            }
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(own).toBeGreaterThan(100);
    });

    it('leaves every row of the database unchanged', async () => {
      const before = await checksums(fixtures.make);
      expect(Object.keys(before).length).toBeGreaterThan(25);
      for (const { own, foreign } of sweep.views()) {
        for (const route of keyedReads(api)) {
          for (const school of foreign) await call(api, route, school, { key: own.key });
        }
      }
      expect(await checksums(fixtures.make)).toEqual(before);
    });
  });
});
