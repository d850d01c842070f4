import { TestApi } from '../../support/http/api.js';
import { createListFixture, listRows, newestFirst, pathAt, rowsAt, type ListFixture, type Stored } from '../../support/data/list-rows.js';
import { Random } from '../../support/data/random.js';
import { documentOf, keyedReads, nameOf, operationAt, queryOf, type Route } from '../../support/http/routes.js';
import { createFixtures, pathOf } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

interface Page {
  data: { id: string }[];
  meta: Record<string, unknown>;
}

/** The only lists that return a total. */
const WITH_TOTAL = ['list_tutors', 'list_students', 'list_parents'];

/** The size of a page by default, and at most, where it is not 20 and 100. */
const SIZES: Record<string, [limit: number, most: number]> = {
  list_blog_posts: [50, 200],
  list_messages: [50, 100],
  list_coverage_tutors: [100, 500],
};
const sizesOf = (route: Route) => SIZES[operation(route)] ?? [20, 100];

const api = await fixture(TestApi.start());
const fixtures = await createFixtures(api);
const document = await documentOf(api);
/** Rows in each list with a cursor: enough for every page size. What its pages show is for lists-walk.spec.ts. */
const ROWS = 104;
const stages = new Map<string, { stage: ListFixture; key: string }>();
const stored = new Map<string, Stored[]>();
const start = new Date('2026-05-01T00:00:00Z');
const random = new Random(7);
for (const [operation, { insert, already }] of listRows(api)) {
  const stage = await createListFixture(fixtures.make, start);
  const times = Array.from({ length: already ? ROWS - 1 : ROWS }, () => new Date(start.getTime() + random.integer(40)).toISOString());
  const rows = await insert(fixtures.make, stage, rowsAt(times, random));
  if (already) rows.push({ id: stage[already], createdAt: start.getTime() });
  stored.set(operation, rows.sort(newestFirst));
  stages.set(operation, { stage, key: await api.key(stage.school) });
}

/** Every list with `limit`, those with a cursor. */
const lists = (): Route[] => keyedReads(api).filter((route) => queryOf(document, route).has('offset'));
const sizeOf = (route: Route) => queryOf(document, route).get('limit')!.default as number;
const cursorLists = (): Route[] => lists().filter((route) => queryOf(document, route).has('cursor'));
const operation = (route: Route): string => operationAt(document, route).operationId;

/** A page of the list from the organization that was filled for it. */
async function page(route: Route, query: string): Promise<Page> {
  const { stage, key } = stages.get(operation(route))!;
  const answer = await api.get(`${pathAt(route, stage)}?${query}`, key);
  if (answer.status !== 200) throw new Error(`${nameOf(route)}?${query} ${answer.status} ${answer.text}`);
  return answer.body as Page;
}

async function status(route: Route, query: string): Promise<number> {
  return (await api.get(`${pathOf(route, fixtures.a)}?${query}`, fixtures.a.key)).status;
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

describe('offset mode', () => {
  it('walks the whole list in order with correct metadata', async () => {
    for (const route of cursorLists()) {
      const rows = stored.get(operation(route))!;
      const [seen, limit]: [string[], number] = [[], sizeOf(route)];
      for (let offset = 0; ; offset += limit) {
        const { data, meta } = await page(route, `offset=${offset}`);
        const total = WITH_TOTAL.includes(operation(route)) ? { total: rows.length } : {};
        expect([nameOf(route), meta]).toEqual([nameOf(route), { limit, offset, count: data.length, ...total }]);
        seen.push(...idsOf(data));
        if (data.length < limit) break;
      }
      expect([nameOf(route), seen]).toEqual([nameOf(route), idsOf(rows)]);
    }
  });

  it('is empty beyond the end but still returns the total', async () => {
    for (const route of cursorLists()) {
      const { length } = stored.get(operation(route))!;
      for (const offset of [length, length + 1, 2_147_483_648, Number.MAX_SAFE_INTEGER]) {
        const { data, meta } = await page(route, `offset=${offset}`);
        const total = WITH_TOTAL.includes(operation(route)) ? { total: length } : {};
        expect([nameOf(route), data, meta]).toEqual([nameOf(route), [], { limit: sizeOf(route), offset, count: 0, ...total }]);
      }
    }
  });
});

describe('an offset', () => {
  it('has no end on any list, and counts as 2^53 - 1 beyond that', async () => {
    for (const route of lists()) {
      for (const offset of ['2147483648', '9007199254740992', `${'0'.repeat(60)}9`, '9'.repeat(400)]) {
        const answer = await api.get(`${pathOf(route, fixtures.a)}?offset=${offset}`, fixtures.a.key);
        const body = answer.body as Page | unknown[];
        const [data, applied] = Array.isArray(body) ? [body, null] : [body.data, body.meta.offset];
        expect([nameOf(route), offset, answer.status, data]).toEqual([nameOf(route), offset, 200, offset.endsWith('09') ? data : []]);
        if (applied !== null) expect(applied).toBe(Math.min(Number(offset), Number.MAX_SAFE_INTEGER));
      }
      for (const offset of ['-1', '1.0', '1e3', '']) expect([nameOf(route), await status(route, `offset=${offset}`)]).toEqual([nameOf(route), 422]);
    }
  }); // prettier-ignore
});

describe('cursor mode', () => {
  it('returns exactly limit, count and next_cursor, and ignores the offset', async () => {
    for (const route of cursorLists()) {
      const first = await page(route, 'cursor=start&limit=7');
      expect([nameOf(route), Object.keys(first.meta)]).toEqual([nameOf(route), ['limit', 'count', 'next_cursor']]);
      expect(first.meta).toEqual({ limit: 7, count: 7, next_cursor: expect.any(String) as string });
      expect(await page(route, 'cursor=start&limit=7&offset=5')).toEqual(first);
      const next = `limit=7&cursor=${first.meta.next_cursor as string}`;
      expect(await page(route, `${next}&offset=50`)).toEqual(await page(route, next));
    }
  });
});

describe('an unknown parameter', () => {
  it('is refused on every read with the names of those that exist', async () => {
    for (const route of keyedReads(api)) {
      const answer = await api.get(`${pathOf(route, fixtures.a)}?sort=title`, fixtures.a.key);
      const { detail } = answer.body as { detail: { loc: string[]; msg: string }[] };
      const { msg } = detail.find(({ loc }) => loc[1] === 'sort')!;
      const [, named] = /^Unknown parameter\. This (?:list|request) takes (.*)\.$/.exec(msg)!;
      const known = [...queryOf(document, route).keys()];
      expect([nameOf(route), named!.split(', ').sort()]).toEqual([nameOf(route), known.length > 0 ? known.sort() : ['none']]);
    }
  });
});

describe('limit and offset', () => {
  it('have the documented defaults and bounds', async () => {
    for (const route of lists()) {
      const [usual, most] = sizesOf(route);
      expect([nameOf(route), queryOf(document, route).get('limit')]).toEqual([
        nameOf(route),
        { type: 'integer', minimum: 1, maximum: most, default: usual },
      ]);
      expect(queryOf(document, route).get('offset')).toMatchObject({ type: 'integer', minimum: 0, default: 0 });
      expect([nameOf(route), await status(route, `limit=1`), await status(route, `limit=${most}`)]).toEqual([nameOf(route), 200, 200]);
    }
  });
});
