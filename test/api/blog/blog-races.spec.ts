import { Outbox } from '@app/jobs';
import { Publishing } from '@app/publishing';
import { Database } from '@app/database';
import { TestApi } from '../../support/http/api.js';
import { Blog, type Post } from '../../support/data/blog.js';
import { repeated } from '../../support/http/repeated.js';
import { inReport } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: '10' }));
const blog = await Blog.open(api);

beforeEach(async () => {
  await blog.rebuilds();
  vi.restoreAllMocks();
});

/** Records every requested rebuild, including those that joined one already waiting. */
function countDispatches(): () => string[] {
  const spy = vi.spyOn(api.app.get(Outbox), 'addRebuild');
  return () => spy.mock.calls.map(([, target]) => target);
}

async function published(count: number, send: (index: number) => PromiseLike<{ status: number }>): Promise<void> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => repeated(() => send(index))));
  expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
}

describe('racing publishes', () => {
  const POSTS = inReport(20, 4);

  it(`dispatch once per post for 100 simultaneous publishes of each of ${POSTS} posts, and never again`, async () => {
    const posts = await Promise.all(
      Array.from({ length: POSTS }, async () => {
        const { id: school } = await blog.make.organization();
        const key = await api.key(school, { scopes: ['blog:write'] });
        return { school, key, id: (await blog.make.post(school)).id };
      }),
    );
    const dispatches = countDispatches();
    for (let first = 0; first < posts.length; first += 4) {
      const some = posts.slice(first, first + 4);
      await published(400, (index) => {
        const { id, key } = some[index % 4]!;
        return blog.change(id, { status: 'published' }, key);
      });
    }
    const wanted = posts.map(({ school }) => `organization:${school}`).sort();
    expect(dispatches().sort()).toEqual(wanted);
    expect((await blog.rebuilds()).sort()).toEqual(wanted);
    for (const { id, key } of posts) await published(5, () => blog.change(id, { status: 'published' }, key));
    expect(await blog.rebuilds()).toEqual([]);
  });

  it('dispatch once per change of state when mixed with unpublishing', async () => {
    const { id, updatedAt } = await blog.make.post(blog.school);
    const dispatches = countDispatches();
    // Each version has its own update time, so there are as many as changes.
    const versions = new Set<string>();
    await published(60, async (index) => {
      const answer = await blog.change(id, { status: index % 2 ? 'draft' : 'published' });
      versions.add((answer.body as Post).updated_at);
      return answer;
    });
    versions.delete(updatedAt.toISOString());
    expect(versions.size).toBeGreaterThan(1);
    expect(dispatches()).toHaveLength(versions.size);
  });

  it('dispatch once when the worker publishes the scheduled post at the same time', async () => {
    const db = api.app.get(Database);
    const publishing = api.app.get(Publishing, { strict: false });
    const dispatches = countDispatches();
    for (let round = 0; round < 10; round++) {
      const { id } = await blog.make.post(blog.school, { scheduledAt: new Date(Date.now() - 1000) });
      const work = () => db.transaction(Publishing.tenantOf(blog.school), () => publishing.publishDue({ id, organizationId: blog.school }));
      const [answer, ...done] = await Promise.all([blog.change(id, { status: 'published' }), work(), work(), work()]);
      expect((answer.body as Post).status).toBe('published');
      expect(done.filter(Boolean).length).toBeLessThanOrEqual(1);
      expect(dispatches()).toHaveLength(round + 1);
      expect(await work()).toBe(false);
    }
  });
});

describe('Publishing.publishDue', () => {
  const due = (id: string, organizationId: string | null) =>
    api.app
      .get(Database)
      .transaction(Publishing.tenantOf(organizationId), () => api.app.get(Publishing, { strict: false }).publishDue({ id, organizationId }));

  it('publishes as PATCH does', async () => {
    const scheduledAt = new Date(Date.now() - 1000);
    const twins = [await blog.make.post(blog.school, { scheduledAt }), await blog.make.post(blog.school, { scheduledAt })]; // prettier-ignore
    await blog.change(twins[0]!.id, { status: 'published' });
    const byHand = await blog.rebuilds();
    expect(await due(twins[1]!.id, blog.school)).toBe(true);
    expect(await blog.rebuilds()).toEqual(byHand);
    const [a, b] = [(await blog.get(twins[0]!.id)).body as Post, (await blog.get(twins[1]!.id)).body as Post];
    const own = { id: '', slug: '', created_at: '', updated_at: '', published_at: '' };
    expect({ ...a, ...own }).toEqual({ ...b, ...own });
    expect([b.status, b.scheduled_at]).toEqual(['published', null]);
    expect(b.published_at).not.toBeNull();
    expect(b.updated_at).not.toBe(twins[1]!.updatedAt.toISOString());
  });
});

describe('racing edits', () => {
  it('let one of 20 with the same If-Match win and return 412 to the others', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await blog.make.post(blog.school, { status: 'published', publishedAt: new Date() });
      const tag = (await blog.get(id)).headers.etag!;
      await blog.rebuilds();
      const dispatches = countDispatches();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => blog.change(id, { title: `Edit ${index}` }).set('If-Match', tag)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(412)]);
      const winner = answers.find(({ status }) => status === 200)!;
      expect((await blog.get(id)).body).toEqual(winner.body);
      expect(dispatches()).toHaveLength(1);
      vi.restoreAllMocks();
    }
  });

  it('lose nothing when they change different fields without If-Match', async () => {
    const { id } = await blog.make.post(blog.school);
    const fields = { title: 'T', excerpt: 'E', content: 'C', author: 'A', category: 'K', date: '2026-01-02' };
    await Promise.all(Object.entries(fields).map(([name, value]) => blog.change(id, { [name]: value })));
    expect((await blog.get(id)).body).toMatchObject(fields);
  });

  it('against a delete return 200 or 404, and the post is gone', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await blog.make.post(blog.school, { status: 'published', publishedAt: new Date() });
      const [change, removal] = await Promise.all([blog.change(id, { title: 'Anew' }), blog.remove(id)]);
      expect([200, 404]).toContain(change.status);
      expect(removal.status).toBe(204);
      expect((await blog.get(id)).status).toBe(404);
    }
  });
});
