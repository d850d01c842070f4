import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';
import { Blog, type Post } from '../../support/data/blog.js';

const api = await TestApi.shared();
const blog = await Blog.open(api);

beforeEach(() => blog.rebuilds());

const LATER = '2099-01-01T00:00:00.000Z';

type State = 'draft' | 'scheduled' | 'published';

/** Stores a post in this state, last updated long ago. */
async function stored(state: State, more: object = {}): Promise<{ id: string; updatedAt: Date }> {
  const old = new Date('2026-01-01T00:00:00Z');
  const is = {
    draft: { status: 'draft' as const },
    scheduled: { status: 'draft' as const, scheduledAt: new Date(LATER) },
    published: { status: 'published' as const, publishedAt: old },
  }[state];
  return blog.make.post(blog.school, { createdAt: old, updatedAt: old, ...is, ...more });
}

/** What a PATCH does to a post in a state: the resulting state, or null for a 422 at `scheduled_at` that changes nothing. */
const TRANSITIONS: { from: State; patch: object; to: State | null; rebuilds: number; changed: boolean }[] = [
  { from: 'draft', patch: {}, to: 'draft', rebuilds: 0, changed: false },
  { from: 'draft', patch: { status: 'draft' }, to: 'draft', rebuilds: 0, changed: false },
  { from: 'draft', patch: { title: 'Anew' }, to: 'draft', rebuilds: 0, changed: true },
  { from: 'draft', patch: { title: 'News' }, to: 'draft', rebuilds: 0, changed: false },
  { from: 'draft', patch: { status: 'published' }, to: 'published', rebuilds: 1, changed: true },
  { from: 'draft', patch: { status: 'published', title: 'Anew' }, to: 'published', rebuilds: 1, changed: true },
  { from: 'draft', patch: { status: 'published', scheduled_at: null }, to: 'published', rebuilds: 1, changed: true },
  { from: 'draft', patch: { status: 'published', scheduled_at: LATER }, to: null, rebuilds: 0, changed: false },
  { from: 'draft', patch: { scheduled_at: LATER }, to: 'scheduled', rebuilds: 0, changed: true },
  { from: 'draft', patch: { scheduled_at: '2020-01-01' }, to: 'scheduled', rebuilds: 0, changed: true },
  { from: 'draft', patch: { scheduled_at: null }, to: 'draft', rebuilds: 0, changed: false },
  { from: 'scheduled', patch: { scheduled_at: null }, to: 'draft', rebuilds: 0, changed: true },
  { from: 'scheduled', patch: { scheduled_at: LATER }, to: 'scheduled', rebuilds: 0, changed: false },
  { from: 'scheduled', patch: { scheduled_at: '2099-01-01T01:00:00+01:00' }, to: 'scheduled', rebuilds: 0, changed: false },
  { from: 'scheduled', patch: { title: 'Anew' }, to: 'scheduled', rebuilds: 0, changed: true },
  { from: 'scheduled', patch: { status: 'published' }, to: 'published', rebuilds: 1, changed: true },
  { from: 'scheduled', patch: { status: 'published', scheduled_at: null }, to: 'published', rebuilds: 1, changed: true },
  { from: 'scheduled', patch: { status: 'published', scheduled_at: LATER }, to: null, rebuilds: 0, changed: false },
  { from: 'scheduled', patch: { status: 'draft' }, to: 'scheduled', rebuilds: 0, changed: false },
  { from: 'published', patch: {}, to: 'published', rebuilds: 0, changed: false },
  { from: 'published', patch: { status: 'published' }, to: 'published', rebuilds: 0, changed: false },
  { from: 'published', patch: { status: 'published', title: 'News' }, to: 'published', rebuilds: 0, changed: false },
  { from: 'published', patch: { title: 'Anew' }, to: 'published', rebuilds: 1, changed: true },
  { from: 'published', patch: { publish_to_website: false }, to: 'published', rebuilds: 1, changed: true },
  { from: 'published', patch: { tags: [] }, to: 'published', rebuilds: 0, changed: false },
  { from: 'published', patch: { scheduled_at: null }, to: 'published', rebuilds: 0, changed: false },
  { from: 'published', patch: { scheduled_at: LATER }, to: null, rebuilds: 0, changed: false },
  { from: 'published', patch: { status: 'published', scheduled_at: LATER }, to: null, rebuilds: 0, changed: false },
  { from: 'published', patch: { status: 'draft' }, to: 'draft', rebuilds: 1, changed: true },
  { from: 'published', patch: { status: 'draft', scheduled_at: LATER }, to: 'scheduled', rebuilds: 1, changed: true },
  { from: 'published', patch: { status: 'draft', title: 'Anew' }, to: 'draft', rebuilds: 1, changed: true },
];

function stateOf(post: Post): State {
  expect(post.published_at === null).toBe(post.status === 'draft');
  if (post.status === 'published') expect(post.scheduled_at).toBeNull();
  if (post.status === 'published') return 'published';
  return post.scheduled_at === null ? 'draft' : 'scheduled';
}

describe('PATCH /v1/blog-posts/{post_id}', () => {
  it.each(TRANSITIONS)('$from + $patch → $to, $rebuilds rebuilds', async ({ from, patch, to, rebuilds, changed }) => {
    const { id, updatedAt } = await stored(from);
    const before = (await blog.get(id)).body as Post;
    const answer = await blog.change(id, patch);
    const after = (await blog.get(id)).body as Post;
    if (to !== null) {
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(after);
      expect(stateOf(after)).toBe(to);
    } else {
      expect(answer.status).toBe(422);
      expect((answer.body as { detail: { loc: unknown }[] }).detail.map(({ loc }) => loc)).toEqual([['body', 'scheduled_at']]);
    }
    if (changed) expect(Date.parse(after.updated_at)).toBeGreaterThan(updatedAt.getTime());
    else expect(after).toEqual(before);
    expect(await blog.rebuilds()).toEqual(Array<string>(rebuilds).fill(`organization:${blog.school}`));
  });

  it('writes and reads back every writable field', async () => {
    const { id } = await stored('draft');
    const all = {
      title: 'Sechs Gewohnheiten 🎓',
      slug: `all-${id}`,
      excerpt: 'Kurz',
      content: '<p>Grüße\n🎓</p>',
      tags: ['a', 'ä', '🎓', 'with, comma', '"quoted"', 'NULL', '{x}'],
      featured_image: 'https://example.org/a b.png?x=1#y'.replace(' ', '%20'),
      author: 'Ada',
      category: 'News',
      date: '2026-02-28',
      publish_to_website: false,
      publish_to_portal: true,
      scheduled_at: LATER,
      status: 'draft',
    };
    expect((await blog.change(id, all)).body).toMatchObject(all);
    expect((await blog.get(id)).body).toMatchObject(all);
    const nulls = { excerpt: null, content: null, featured_image: null, author: null, category: null, date: null, scheduled_at: null }; // prettier-ignore
    expect((await blog.change(id, nulls)).body).toMatchObject({ ...all, ...nulls });
  });

  it('refuses a slug taken in the organization, and accepts one taken elsewhere', async () => {
    const mine = await stored('draft', { slug: 'taken' });
    const { id: elsewhere } = await blog.make.organization();
    await blog.make.post(elsewhere, { slug: 'free-here' });
    const { id } = await stored('published');
    const refused = await blog.change(id, { slug: 'taken', title: 'Anew' });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ detail: [{ loc: ['body', 'slug'], type: 'value_error' }] });
    expect(((await blog.get(id)).body as Post).title).toBe('News');
    expect(await blog.rebuilds()).toEqual([]);
    expect((await blog.change(id, { slug: 'free-here' })).status).toBe(200);
    expect((await blog.change(mine.id, { slug: 'taken' })).status).toBe(200);
  });
});

describe('ETag and If-Match', () => {
  it('GET, POST and PATCH return the same strong tag for the same version and a new one for another', async () => {
    const created = await blog.create({ title: 'T', slug: `etag-${uuidv7()}` });
    const { id } = created.body as Post;
    const tag = created.headers.etag!;
    expect(tag).toMatch(/^"[\w-]+"$/);
    expect((await blog.get(id)).headers.etag).toBe(tag);
    expect((await blog.change(id, { title: 'T' })).headers.etag).toBe(tag);
    const changed = await blog.change(id, { title: 'U' });
    expect(changed.headers.etag).not.toBe(tag);
    expect((await blog.get(id)).headers.etag).toBe(changed.headers.etag);
  });

  it('a change and its reversal are distinct versions, even within one millisecond', async () => {
    const { id } = await stored('draft');
    const tags = new Set<string>();
    for (let round = 0; round < 20; round++) {
      tags.add((await blog.change(id, { title: round % 2 ? 'News' : 'Anew' })).headers.etag!);
    }
    expect(tags.size).toBe(20);
    // Simulates a clock that went back: the last change lies in the future.
    await blog.make.query(`UPDATE blog_posts SET updated_at = '2099-01-01' WHERE id = $1`, [id]);
    const after = (await blog.change(id, { title: 'Once more' })).body as Post;
    expect(after.updated_at).toBe('2099-01-01T00:00:00.001Z');
  });

  it('GET returns 304 when If-None-Match names the current version', async () => {
    const { id } = await stored('draft');
    const tag = (await blog.get(id)).headers.etag!;
    const answer = await blog.get(id).set('If-None-Match', tag);
    expect([answer.status, answer.text]).toEqual([304, '']);
    expect((await blog.get(id).set('If-None-Match', '"other"')).status).toBe(200);
  });

  it.each([
    ['the current version', (tag: string) => tag, 200],
    ['any version', () => '*', 200],
    ['one of several', (tag: string) => `"other", ${tag}`, 200],
    ['one of a list with empty elements', (tag: string) => ` , "other",, ${tag} ,`, 200],
    ['another version', () => '"other"', 412],
    ['a weak tag, which never matches', (tag: string) => `W/${tag}`, 412],
    ['an empty tag', () => '""', 412],
    ['no quotes', (tag: string) => tag.slice(1, -1), 400],
    ['half a tag', (tag: string) => tag.slice(0, -1), 400],
    ['nothing', () => ' ', 400],
    ['a list of nothing', () => ',', 400],
    ['two tags without a comma', (tag: string) => `${tag} ${tag}`, 400],
  ])('If-Match with %s', async (_what, header, status) => {
    let id = '';
    for (const send of [() => blog.change(id, { title: 'Anew' }), () => blog.remove(id)]) {
      ({ id } = await stored('published'));
      const tag = (await blog.get(id)).headers.etag!;
      await blog.rebuilds();
      const answer = await send().set('If-Match', header(tag));
      expect(answer.status).toBe(status === 200 && answer.request.method === 'DELETE' ? 204 : status);
      if (status === 412) expect(answer.body).toMatchObject({ error: { code: 'precondition_failed', status: 412 } });
      const kept = await blog.get(id);
      if (status !== 200) expect((kept.body as Post).title).toBe('News');
      expect(await blog.rebuilds()).toHaveLength(status === 200 ? 1 : 0);
    }
  });
  it('PATCH and DELETE of a missing post return 404 with any If-Match', async () => {
    for (const header of ['*', '"x"']) {
      expect((await blog.change(uuidv7(), {}).set('If-Match', header)).status).toBe(404);
      expect((await blog.remove(uuidv7()).set('If-Match', header)).status).toBe(404);
    }
  });
});

describe('DELETE /v1/blog-posts/{post_id}', () => {
  it.each([
    ['draft', 0],
    ['scheduled', 0],
    ['published', 1],
  ] as const)('removes a %s post with %i rebuilds', async (state, rebuilds) => {
    const { id } = await stored(state);
    const answer = await blog.remove(id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await blog.get(id)).status).toBe(404);
    expect(await blog.rebuilds()).toHaveLength(rebuilds);
    expect((await blog.remove(id)).status).toBe(404);
    expect(await blog.rebuilds()).toEqual([]);
  });
});
