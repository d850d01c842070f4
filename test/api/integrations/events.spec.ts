import { MOST_EXAMINED } from '../../../apps/api/src/areas/integrations/event-feed.js';
import { RouteTable } from '../../../apps/api/src/http/routing/route-table.js';
import { quietOrganization, type ShownEvent, tell } from '../../support/data/told.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

// Its own database: whole tables are deleted, restored and purged.
const api = await fixture(TestApi.start());
const { make } = api;
let school: string;
let key: string;

beforeEach(async () => {
  // Those of all organizations are numbered and purged in one order.
  for (const table of ['event_changes', 'events', 'event_floors']) await make.query(`DELETE FROM ${table}`);
  school = await quietOrganization(make);
  key = await api.key(school);
});

interface Page {
  data: ShownEvent[];
  meta: { limit: number; count: number; next_cursor: string; has_more: boolean };
}

async function read(query: string, by = key): Promise<Page> {
  const { status, body } = (await api.get(`/v1/events${query}`, by)) as { status: number; body: Page };
  expect([status, body]).toEqual([200, body]);
  return body;
}

const idsOf = ({ data }: Page) => data.map(({ id }) => id);
const at = (cursor: string, more = '') => `?cursor=${cursor}${more}`;

/** The rest of the feed, page by page, however many are empty. */
async function rest(cursor: string, more = ''): Promise<{ ids: string[]; pages: number; cursor: string }> {
  const ids: string[] = [];
  for (let pages = 1; ; pages++) {
    const page = await read(at(cursor, more));
    ids.push(...idsOf(page));
    cursor = page.meta.next_cursor;
    if (!page.meta.has_more) return { ids, pages, cursor };
  }
}

const COMPLETED = 'session.completed';
const CREATED = 'session.created';
const INVOICED = 'invoice.finalized';

describe('the feed', () => {
  it('shows everything that is kept, oldest first, page by page', async () => {
    const ids = await tell(make, school, [CREATED, COMPLETED, INVOICED]);
    const first = await read('?limit=2');
    expect(first.meta).toEqual({ limit: 2, count: 2, next_cursor: expect.stringMatching(/^[\w-]{54}$/) as string, has_more: true });
    expect(first.data[0]).toEqual({
      id: ids[0], type: CREATED, timestamp: expect.stringMatching(/^[\d-]{10}T[\d:]{8}\.\d{3}Z$/) as string,
      resource: 'session', resource_id: expect.any(String) as string, data: { changed: [], status: 'open' },
    }); // prettier-ignore
    const second = await read(at(first.meta.next_cursor, '&limit=2'));
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
    expect(second.meta).toMatchObject({ count: 1, has_more: false });
    expect(idsOf(await read('?cursor=oldest'))).toEqual(ids);
  });

  it('goes on from an empty page, and from now', async () => {
    const empty = await read('');
    expect(empty).toMatchObject({ data: [], meta: { count: 0, has_more: false } });
    const [first] = await tell(make, school, [CREATED]);
    expect(idsOf(await read(at(empty.meta.next_cursor)))).toEqual([first]);
    const now = await read('?cursor=now');
    expect(now).toMatchObject({ data: [], meta: { has_more: false } });
    expect((await read(at(now.meta.next_cursor))).meta.next_cursor).toBe(now.meta.next_cursor);
    const [second] = await tell(make, school, [COMPLETED]);
    expect(idsOf(await read(at(now.meta.next_cursor)))).toEqual([second]);
  });

  it('shows no other organization its events or cursors', async () => {
    const other = await quietOrganization(make);
    const otherKey = await api.key(other);
    const [id] = await tell(make, school, [CREATED]);
    const { meta } = await read('');
    expect(idsOf(await read('', otherKey))).toEqual([]);
    expect((await api.get(`/v1/events${at(meta.next_cursor)}`, otherKey)).status).toBe(410);
    expect((await api.get(`/v1/events/${id}`, otherKey)).status).toBe(404);
    expect((await api.get(`/v1/events/${school}`, key)).status).toBe(404);
    expect((await api.get(`/v1/events/${id}`, key)).body).toEqual((await read('')).data[0]);
  });

  it('does not tell how much happens elsewhere: equal steps of numbers do not show in cursors', async () => {
    const ids = await tell(make, school, [CREATED, CREATED, CREATED]);
    const numbers: bigint[] = [];
    for (const [index] of ids.entries()) {
      const { meta } = await read(`?limit=${index + 1}`);
      numbers.push(Buffer.from(meta.next_cursor, 'base64url').readBigInt64BE());
    }
    expect(numbers[1]! - numbers[0]!).not.toBe(1n);
    expect(numbers[2]! - numbers[1]!).not.toBe(1n);
  });
});

describe('filters', () => {
  it('take names, kinds and resources, and may change without losing the place', async () => {
    const ids = await tell(make, school, [CREATED, INVOICED, COMPLETED, 'attendance.marked', CREATED]);
    const of = async (query: string) => (await rest('oldest', query)).ids.map((id) => ids.indexOf(id));
    expect(await of('&types=session.*')).toEqual([0, 2, 4]);
    expect(await of(`&types=${INVOICED},${COMPLETED}`)).toEqual([1, 2]);
    expect(await of('&types=attendance.*,invoice.*')).toEqual([1, 3]);
    expect(await of('&resource=lesson_participant')).toEqual([3]);
    expect(await of(`&resource=session&types=${CREATED}`)).toEqual([0, 4]);
    const first = await read(`?limit=1&types=session.*`);
    expect(idsOf(await read(at(first.meta.next_cursor))).map((id) => ids.indexOf(id))).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ['types', 'sesion.completed'], ['types', ''], ['types', 'session.*,'], ['types', '*'], ['types', '.*'], ['types', 'session'], ['types', 'sess.*'],
    ['resource', 'sessions'], ['wait', '21'], ['wait', '-1'], ['limit', '101'], ['cursor', 'start'], ['cursor', 'x'.repeat(53)], ['offset', '1'],
  ])('refuse %s=%s', async (name, value) => {
    const { status, body } = (await api.get(`/v1/events?${name}=${value}`, key)) as { status: number; body: { detail: { loc: string[] }[] } };
    expect([status, body.detail[0]!.loc]).toEqual([422, ['query', name]]);
  }); // prettier-ignore

  it('look at a bounded number of events, and move on', async () => {
    await tell(make, school, Array<string>(2 * MOST_EXAMINED + 10).fill(CREATED));
    const [rare] = await tell(make, school, [COMPLETED]);
    const first = await read(`?types=${COMPLETED}`);
    expect(first).toMatchObject({ data: [], meta: { count: 0, has_more: true } });
    expect(await rest('oldest', `&types=${COMPLETED}`)).toMatchObject({ ids: [rare], pages: 3 });
    // An index finds the place, and never the one of all organizations' events: others may have had thousands since.
    await make.query('ANALYZE events');
    const rows = await make.query('EXPLAIN SELECT id FROM events WHERE organization_id = $1 AND number > 5 ORDER BY number LIMIT 20', [school]);
    expect(JSON.stringify(rows)).toMatch(/Index Scan using events_feed/);
  });

  it('come to an end exactly at the bound', async () => {
    await tell(make, school, Array<string>(MOST_EXAMINED).fill(CREATED));
    expect((await read(`?types=${COMPLETED}`)).meta).toMatchObject({ count: 0, has_more: false });
  });
});

describe('a cursor', () => {
  const expired = async (cursor: string) => {
    const { status, body } = (await api.get(`/v1/events${at(cursor)}`, key)) as { status: number; body: { error?: { code: string } } };
    return [status, body.error?.code];
  };
  const GONE = [410, 'cursor_expired'];
  /** What the worker does once in a while. */
  const purge = (most = 5_000) => make.query('SELECT purge_events(30, $1)', [most]);

  it('says how to go on when it has expired', async () => {
    expect((await api.get(`/v1/events${at('x'.repeat(54))}`, key)).body).toEqual({
      error: { code: 'cursor_expired', status: 410, details: {}, message: expect.stringMatching(/cursor=now.*lists/s) as string },
    });
  });

  it('expires once something that it has not shown is gone', async () => {
    await tell(make, school, [CREATED], 40);
    const { meta } = await read('');
    await tell(make, school, [CREATED, CREATED], 35);
    await tell(make, school, [CREATED], 1);
    expect(await expired(meta.next_cursor)).toEqual([200, undefined]);
    await purge();
    expect(await expired(meta.next_cursor)).toEqual(GONE);
    expect((await read('')).data).toHaveLength(1);
  });

  it('stays good in an organization where nothing happens for longer than events are kept', async () => {
    const start = await read('');
    await purge();
    expect(await expired(start.meta.next_cursor)).toEqual([200, undefined]);
    await tell(make, school, [CREATED, CREATED], 45);
    const { meta } = await read('');
    await purge();
    expect((await read('')).meta).toMatchObject({ count: 0, next_cursor: meta.next_cursor });
    expect((await read('?cursor=now')).meta.next_cursor).toBe(meta.next_cursor);
    expect(await expired(meta.next_cursor)).toEqual([200, undefined]);
    // Something happens, and the purge comes before the next poll.
    const [next] = await tell(make, school, [COMPLETED]);
    await purge();
    expect(idsOf(await read(at(meta.next_cursor)))).toEqual([next]);
    // From before the first event on, two are gone.
    expect(await expired(start.meta.next_cursor)).toEqual(GONE);
  });

  it('never skips what a long transaction wrote early: events go in the order in which they are read', async () => {
    const [late] = await tell(make, school, [CREATED], 29);
    const before = await read('?limit=1');
    const [early] = await tell(make, school, [COMPLETED], 31);
    await purge();
    expect((await rest('oldest')).ids).toEqual([late, early]);
    expect(idsOf(await read(at(before.meta.next_cursor)))).toEqual([early]);
  });

  it('is right while a purge is half done', async () => {
    await tell(make, school, Array<string>(4).fill(CREATED), 50);
    const cursors: string[] = [];
    for (const limit of [1, 2, 3, 4]) cursors.push((await read(`?limit=${limit}`)).meta.next_cursor);
    await tell(make, school, [CREATED], 2);
    const states: unknown[] = [];
    for (let round = 0; round < 5; round++) {
      await purge(1);
      states.push((await Promise.all(cursors.map(expired))).map(([status]) => status));
    }
    // In the order of the feed: who has read less loses the cursor first.
    expect(states.map(String)).toEqual(['200,200,200,200', '410,200,200,200', '410,410,200,200', '410,410,410,200', '410,410,410,200']);
  });

  it('of a future that a restore has undone expires, whether its number was given again or not', async () => {
    await tell(make, school, [CREATED]);
    const kept = await read('');
    const [{ number: before }] = (await make.query<{ number: string }>('SELECT number FROM event_counter')) as [{ number: string }];
    await tell(make, school, [CREATED]);
    const lost = await read('');
    await make.query('DELETE FROM events WHERE number > $1', [before]);
    await make.query('UPDATE event_counter SET number = $1', [before]);
    expect(await expired(lost.meta.next_cursor)).toEqual(GONE);
    const [other] = await tell(make, school, [COMPLETED]);
    expect(await expired(lost.meta.next_cursor)).toEqual(GONE);
    expect(idsOf(await read(at(kept.meta.next_cursor)))).toEqual([other]);
  });
});

describe('the types', () => {
  it('are all listed, with a sentence and where to read the record', async () => {
    const { data } = (await api.get('/v1/event-types', key)).body as {
      data: { type: string; description: string; resource: string; path: string | null; list: string | null }[];
    };
    expect(data.length).toBeGreaterThan(5);
    const [wrong, routes]: [string[], RouteTable] = [[], api.app.get(RouteTable)];
    for (const { type, description, list, path } of data) {
      if (!/^[a-z_.]+$/.test(type) || !/^[A-Z].*\.$/.test(description)) wrong.push(`${type}: ${description}`);
      for (const at of [list, path]) if (at && !routes.match('GET', at.replaceAll(/\{\w+\}/g, school))) wrong.push(`${type} ${at}`);
    }
    expect(wrong).toEqual([]);
  });
});
