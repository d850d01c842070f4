import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '@app/database';
import { Fairness } from '../../../apps/api/src/http/request/fairness.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

/** Posts of 300 kB each, so that each is a part of its own. */
const POSTS = 12;
const CONTENT = '🎓'.repeat(75_000);
let ids: string[];

const api = await fixture(TestApi.start());
const { make } = api;
const { turns, budget } = api.app.get(Fairness);
const { id: school } = await make.organization();
const key = await api.key(school);

beforeEach(async () => {
  ids = [];
  for (let n = 0; n < POSTS; n++) {
    // Pairs of units at even and at odd positions: none may be cut.
    ids.unshift((await make.post(school, { content: 'x'.repeat(n % 2) + CONTENT })).id);
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  await make.query('DELETE FROM blog_posts WHERE organization_id = $1', [school]);
  await vi.waitFor(() => {
    expect([turns.held, turns.waiting, budget.bytes]).toEqual([0, 0, 0]);
  });
});

interface HomeworkPage {
  data: { id: string }[];
  meta: { count: number; next_cursor?: string };
}

/** Resolves with the head of a response whose body has not been read. */
async function open(path: string): Promise<IncomingMessage> {
  const { port } = api.server.address() as AddressInfo;
  const request = get({ port, host: '127.0.0.1', path, agent: false, headers: { Authorization: `Token token=${key}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Everything until the connection ends, or null if it was cut before the end. */
async function rest(response: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString();
}

/** Watches database reads; the first is the page, the others its parts. */
const watchReads = () => vi.spyOn(Database.prototype, 'read');

/** Runs the work before the `nth` read from now on. */
function beforeRead(nth: number, work: () => Promise<void>): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its `this`
  const original = Database.prototype.read;
  let calls = 0;
  vi.spyOn(Database.prototype, 'read').mockImplementation(async function (this: Database, ...args) {
    if (++calls === nth) await work();
    return original.apply(this, args);
  });
}

describe('a large page', () => {
  it('is streamed in parts and arrives whole', async () => {
    const reads = watchReads();
    const answer = await api.get('/v1/blog-posts', key);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'transfer-encoding': 'chunked',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '1000000',
    });
    expect(answer.headers['content-length']).toBeUndefined();
    const found = answer.body as { id: string; content: string }[];
    expect(found.map(({ id }) => id)).toEqual(ids);
    expect(found.every(({ content }, at) => content === 'x'.repeat((POSTS - 1 - at) % 2) + CONTENT)).toBe(true);
    expect(reads).toHaveBeenCalledTimes(1 + POSTS);
  });

  it('omits rows deleted meanwhile, and counts what it sent', async () => {
    const { id: tutor } = await make.tutor(school);
    for (const query of ['limit=3', 'limit=3&cursor=start']) {
      const homework: string[] = [];
      for (let n = 0; n < 4; n++) {
        homework.unshift((await make.homework(tutor, { description: CONTENT }, school)).id);
      }
      beforeRead(3, async () => {
        await make.query('DELETE FROM homework WHERE id = $1', [homework[1]]);
      });
      const { data, meta } = (await api.get(`/v1/homework?${query}`, key)).body as HomeworkPage;
      vi.restoreAllMocks();
      expect(data.map(({ id }) => id)).toEqual([homework[0], homework[2]]);
      expect(meta.count).toBe(2);
      if (query.includes('cursor')) {
        const next = await api.get(`/v1/homework?limit=1&cursor=${meta.next_cursor!}`, key);
        expect((next.body as HomeworkPage).data.map(({ id }) => id)).toEqual([homework[3]]);
      } else {
        expect(meta).toEqual({ limit: 3, offset: 0, count: 2 });
      }
    }
  });

  it('has no body for HEAD, which reads no parts', async () => {
    const reads = watchReads();
    const { port } = api.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/blog-posts`, { method: 'HEAD', headers: { Authorization: `Token token=${key}` } });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reads).toHaveBeenCalledTimes(1);
  });

  it('is read only as fast as the client accepts it, without holding a turn or a connection', async () => {
    await make.query('UPDATE blog_posts SET content = $2 WHERE organization_id = $1', [school, '🎓'.repeat(200_000)]);
    for (let n = 0; n < 60; n++) await make.post(school, { content: '🎓'.repeat(200_000) });
    const reads = watchReads();
    const response = await open('/v1/blog-posts?limit=200');
    // Sockets buffer a few megabytes; then reading stops.
    let before;
    do {
      before = reads.mock.calls.length;
      await sleep(500);
    } while (reads.mock.calls.length > before);
    expect(before).toBeLessThan(40);
    expect(turns.held).toBe(0);
    expect(budget.bytes).toBeGreaterThan(0);
    await vi.waitFor(() => {
      const { total, idle, waiting } = api.app.get(Database).poolState;
      expect([total - idle, waiting]).toEqual([0, 0]);
    });
    const text = await rest(response);
    expect((JSON.parse(text!) as object[]).length).toBe(POSTS + 60);
  });

  it('stops being read when its client disconnects', async () => {
    for (let n = 0; n < 60; n++) await make.post(school, { content: '🎓'.repeat(200_000) });
    const reads = watchReads();
    const response = await open('/v1/blog-posts?limit=200');
    response.destroy();
    await vi.waitFor(() => {
      expect(budget.bytes).toBe(0);
    });
    expect(reads.mock.calls.length).toBeLessThan(40);
    await vi.waitFor(() => {
      expect(api.logged.join('')).toMatch(/"route":"\/v1\/blog-posts","status":499/);
    });
  });
});

/** Fails the `nth` part and lets the earlier reads pass. */
function failPart(nth: number): void {
  beforeRead(nth + 1, () => Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' })));
}

describe('a large page that fails', () => {
  it('returns an ordinary 503 before its first byte', async () => {
    failPart(1);
    const answer = await api.get('/v1/blog-posts', key);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.body).toMatchObject({ error: { code: 'service_unavailable' } });
  });

  it('is cut off after its first byte, so that it does not look complete, and is logged', async () => {
    failPart(5);
    const lines = api.logged.length;
    const response = await open('/v1/blog-posts');
    expect(response.statusCode).toBe(200);
    expect(await rest(response)).toBeNull();
    await vi.waitFor(() => {
      const logged = api.logged.slice(lines).join('');
      expect(logged).toMatch(/service_unavailable/);
      expect(logged).toMatch(/"route":"\/v1\/blog-posts","status":503/);
    });
  });

  it('is refused before its first byte, or cut off, when parts fill the memory: the newest of who holds the most', async () => {
    const { id: other } = await make.organization();
    for (let n = 0; n < 2; n++) await make.post(other, { content: CONTENT });
    const others = await api.key(other);
    // As if clients of both organizations held this much.
    const mine = budget.open(school);
    budget.add(mine, 64 * 1_048_576 - 1_000);
    mine.kept = true;
    try {
      const refused = await api.get('/v1/blog-posts', key);
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    } finally {
      budget.release(mine);
    }
    expect((await api.get('/v1/blog-posts', others)).status).toBe(200);
    const slow = await Promise.all(Array.from({ length: 24 }, () => open('/v1/blog-posts')));
    const answers = await Promise.all(slow.map(rest));
    expect(answers.every((text) => (JSON.parse(text!) as object[]).length === POSTS)).toBe(true);
  });
});
