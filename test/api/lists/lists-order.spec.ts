import { v7 as uuidv7 } from 'uuid';
import type { Tables } from '../../support/database/tables.js';
import { TestApi } from '../../support/http/api.js';
import { Random } from '../../support/data/random.js';
import { fixture } from '../../support/process/fixture.js';

const random = new Random(5);

const api = await fixture(TestApi.start());
const { make } = api;

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

/** One of a few times, so that there are ties. */
const aTime = (): Date => new Date(Date.UTC(2026, 4, 1) + random.integer(4));

const descending = (a: string, b: string): number => (a === b ? 0 : a < b ? 1 : -1);

/** An id that does not sort by creation time. */
const anId = (): string => uuidv7().replace(/^(.{8})(.*)(.{8})$/, '$3$2$1');

describe('conversations', () => {
  it('are sorted by latest message, then those without one, with ids as the tie-break', async () => {
    const { id: school } = await make.organization();
    const key = await api.key(school);
    const { id: tutor } = await make.tutor(school);
    const rows: { id: string; at: Date | null }[] = [];
    for (let n = 0; n < 30; n++) {
      const at = random.chance(0.7) ? aTime() : null;
      const { id } = await make.conversation({ id: anId(), participants: [tutor], createdAt: aTime() });
      if (at) await make.message(id, { createdAt: at });
      rows.push({ id, at });
    }
    const order = idsOf(rows.sort((a, b) => (b.at?.getTime() ?? 0) - (a.at?.getTime() ?? 0) || descending(a.id, b.id)));
    const all = await api.get('/v1/conversations?limit=100', key);
    expect(idsOf((all.body as { data: { id: string }[] }).data)).toEqual(order);
    const walked: string[] = [];
    for (let offset = 0; offset < 30; offset += 7) {
      const page = await api.get(`/v1/conversations?limit=7&offset=${offset}`, key);
      walked.push(...idsOf((page.body as { data: { id: string }[] }).data));
    }
    expect(walked).toEqual(order);
  });
});

describe('blog posts', async () => {
  const [{ id: school }, { id: other }] = [await make.organization(), await make.organization()];
  const [plain, platform] = [await api.key(school), await api.key(school, { platformBlog: true })];
  const posts: Tables['blog_posts'][] = [];
  for (let n = 0; n < 60; n++) {
    const wish = { id: anId(), isPinned: random.chance(0.3), createdAt: aTime(), brand: random.pick(['primary', 'secondary']) };
    const status = random.pick(['draft', 'published'] as const);
    posts.push(await make.post(random.pick([school, null]), { ...wish, status }));
    await make.post(other, { ...wish, id: anId() });
  }
  posts.sort((a, b) => Number(b.isPinned) - Number(a.isPinned) || b.createdAt.getTime() - a.createdAt.getTime() || descending(a.id, b.id));

  const own = (): Tables['blog_posts'][] => posts.filter(({ organizationId }) => organizationId === school);

  async function list(key: string, query = 'limit=200'): Promise<string[]> {
    const answer = await api.get(`/v1/blog-posts?${query}`, key);
    expect(answer.status).toBe(200);
    return idsOf(answer.body as { id: string }[]);
  }

  it('are the organization’s own with drafts, pinned first, then newest first, with ids as the tie-break', async () => {
    expect(await list(plain)).toEqual(idsOf(own()));
    expect(own().some(({ status }) => status === 'draft')).toBe(true);
  });

  it('include the platform’s in the same order with the capability', async () => {
    expect(await list(platform)).toEqual(idsOf(posts));
    expect(own().length).toBeLessThan(posts.length);
  });

  it('can be filtered by target; platform posts are an empty array without the capability', async () => {
    const foreign = posts.filter(({ organizationId }) => organizationId === null);
    expect(await list(platform, 'target=platform')).toEqual(idsOf(foreign));
    expect(await list(platform, 'target=org')).toEqual(idsOf(own()));
    expect(await list(plain, 'target=platform')).toEqual([]);
    expect(await list(plain, 'target=org')).toEqual(idsOf(own()));
  });

  it('have the configured brands', async () => {
    const other = await TestApi.start({ BLOG_BRANDS: 'north,south' }, api.database);
    expect((await other.get('/v1/blog-posts?brand=north', plain)).body).toEqual([]);
    expect((await other.get('/v1/blog-posts?brand=primary', plain)).status).toBe(422);
    await other.close();
  });
});
