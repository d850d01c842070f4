import { Database } from '@app/database';
import { PART_BYTES } from '../../../apps/api/src/http/lists/statements.js';
import { TestApi } from '../../support/http/api.js';
import { LargestLists } from '../../support/data/largest-lists.js';
import { nameOf, type Route } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

const ROWS = 60;

/** The most PostgreSQL may return at once: a part, whose text doubles as JSON, and the fixed fields of its rows. */
const MOST_AT_ONCE = 2 * PART_BYTES + 100_000;

const api = await fixture(TestApi.start());
const { make } = api;
const lists = await LargestLists.create(api, make, { rows: ROWS, people: 800 });

interface Read {
  records: unknown[];
  streamed: boolean;
  /** The size of the longest text that PostgreSQL returned, in bytes. */
  atOnce: number;
}

async function read(route: Route, query: string): Promise<Read> {
  const { path, key } = lists.target(route, query);
  const reads = vi.spyOn(Database.prototype, 'read');
  try {
    const answer = await api.get(path, key);
    if (answer.status !== 200) throw new Error(`${nameOf(route)}?${query} ${answer.status} ${answer.text}`);
    const body = answer.body as unknown[] | { data: unknown[] };
    const rows = await Promise.all(reads.mock.results.map(({ value }) => value as Promise<{ data?: string }[][]>));
    return {
      records: Array.isArray(body) ? body : body.data,
      streamed: answer.headers['transfer-encoding'] === 'chunked',
      atOnce: Math.max(...rows.flat(2).map(({ data }) => Buffer.byteLength(data ?? ''))),
    };
  } finally {
    reads.mockRestore();
  }
}

describe('the largest page of every list', () => {
  it('is streamed in either mode and equals the list read record by record', async () => {
    const [streamed, large] = [new Set<string>(), new Set<string>()];
    for (const route of lists.routes()) {
      const single: unknown[] = [];
      for (let offset = 0; offset < 5; offset++) single.push(...(await read(route, `limit=1&offset=${offset}`)).records);
      for (const query of lists.pagesOf(route)) {
        const page = await read(route, query);
        expect([nameOf(route), query, page.atOnce > MOST_AT_ONCE]).toEqual([nameOf(route), query, false]);
        expect(page.records.length).toBeGreaterThanOrEqual(ROWS);
        expect(page.records.slice(0, 5)).toEqual(single);
        if (page.streamed) streamed.add(lists.idOf(route));
        if (Buffer.byteLength(JSON.stringify(page.records)) > PART_BYTES) large.add(lists.idOf(route));
      }
    }
    // All but results, the request log and others with short texts only.
    expect(streamed).toEqual(large);
    expect(large.size).toBeGreaterThanOrEqual(10);
    const long = ['blog_posts.content', 'conversations.title', 'homework.files', 'session_feedback.positive_tags'];
    expect(lists.columns).toEqual(expect.arrayContaining(long));
  });
});
