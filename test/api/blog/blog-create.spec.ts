import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';
import { Blog, type Post } from '../../support/data/blog.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start({ BLOG_BRANDS: 'maths,music' }));
const blog = await Blog.open(api);
const other = await Blog.open(api);

beforeEach(() => blog.rebuilds());

const slug = () => `post-${uuidv7()}`;
const code = (answer: { body: unknown }) => (answer.body as { error: { code: string } }).error.code;

describe('POST /v1/blog-posts', () => {
  it('creates a draft with default values', async () => {
    const own = slug();
    const answer = await blog.create({ title: 'Five habits', slug: own });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{14}7/) as string,
      target: 'org',
      brand: 'maths',
      organization_id: blog.school,
      title: 'Five habits',
      slug: own,
      status: 'draft',
      excerpt: null,
      content: null,
      author: null,
      tags: [],
      featured_image: null,
      category: null,
      date: null,
      publish_to_website: true,
      publish_to_portal: false,
      is_pinned: false,
      published_at: null,
      scheduled_at: null,
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
    });
    expect((await blog.get((answer.body as Post).id)).body).toEqual(answer.body);
    expect(await blog.rebuilds()).toEqual([]);
  });

  it('publishes at once when asked, with one rebuild', async () => {
    const before = Date.now();
    const answer = await blog.create({ title: 'T', slug: slug(), status: 'published', scheduled_at: null });
    const post = answer.body as Post;
    expect([answer.status, post.status, post.scheduled_at]).toEqual([201, 'published', null]);
    expect(Date.parse(post.published_at!)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(post.published_at!)).toBeLessThanOrEqual(Date.now() + 1);
    expect(await blog.rebuilds()).toEqual([`organization:${blog.school}`]);
    const both = { title: 'T', slug: slug(), status: 'published', scheduled_at: '2099-01-01' };
    const refused = await blog.create(both);
    expect([refused.status, refused.body]).toMatchObject([422, { detail: [{ loc: ['body', 'scheduled_at'] }] }]);
    expect((await blog.create({ ...both, status: 'draft' })).body).toMatchObject({ scheduled_at: '2099-01-01T00:00:00.000Z' }); // prettier-ignore
  });

  it('requires a title and an unused slug', async () => {
    const missing = await blog.create({});
    expect(missing.body).toMatchObject({
      detail: [
        { loc: ['body', 'title'], type: 'missing' },
        { loc: ['body', 'slug'], type: 'missing' },
      ],
    });
    const own = slug();
    expect((await blog.create({ title: 'T', slug: own })).status).toBe(201);
    const taken = await blog.create({ title: 'T', slug: own });
    expect([taken.status, taken.body]).toMatchObject([422, { detail: [{ loc: ['body', 'slug'], type: 'value_error' }] }]); // prettier-ignore
    expect((await other.create({ title: 'T', slug: own })).status).toBe(201);
  });

  it('creates one of 20 simultaneous posts with the same slug', async () => {
    const own = slug();
    const answers = await Promise.all(Array.from({ length: 20 }, () => blog.create({ title: 'T', slug: own, status: 'published' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(422)]);
    expect(await blog.rebuilds()).toHaveLength(1);
  });
});

describe('platform posts', () => {
  const platform = (more: object = {}) => ({ title: 'T', slug: slug(), target: 'platform', brand: 'music', ...more });

  it('require the capability and then a brand', async () => {
    const refused = await blog.create(platform());
    expect([refused.status, code(refused)]).toEqual([403, 'platform_blog_required']);
    const { brand: _brand, ...without } = platform();
    expect([(await blog.create(without)).status]).toEqual([403]);
    const missing = await blog.create(without, blog.platformKey);
    expect([missing.status, missing.body]).toMatchObject([422, { detail: [{ loc: ['body', 'brand'], type: 'missing' }] }]); // prettier-ignore
    const made = await blog.create(platform(), blog.platformKey);
    expect([made.status, made.body]).toMatchObject([201, { target: 'platform', brand: 'music', organization_id: null }]); // prettier-ignore
  });

  it('can be changed, published and deleted by any key with the capability, and rebuild their brand’s site', async () => {
    const { id } = (await blog.create(platform(), blog.platformKey)).body as Post;
    const published = await other.change(id, { status: 'published' }, other.platformKey);
    expect([published.status, published.body]).toMatchObject([200, { status: 'published', organization_id: null }]);
    expect(await blog.rebuilds()).toEqual(['brand:music']);
    expect((await other.remove(id, other.platformKey)).status).toBe(204);
    expect(await blog.rebuilds()).toEqual(['brand:music']);
  });

  it('return 404 without the capability', async () => {
    const { id } = (await blog.create(platform({ status: 'published' }), blog.platformKey)).body as Post;
    await blog.rebuilds();
    const absent = uuidv7();
    for (const send of [
      (which: string) => blog.get(which),
      (which: string) => blog.change(which, { title: 'Anew' }),
      (which: string) => blog.remove(which),
    ]) {
      const [answer, twin] = [await send(id), await send(absent)];
      expect([answer.status, answer.body]).toEqual([404, twin.body]);
    }
    expect((await blog.get(id, blog.platformKey)).body).toMatchObject({ title: 'T' });
    expect(await blog.rebuilds()).toEqual([]);
  });

  it('have a slug that is unique within the brand', async () => {
    const own = slug();
    expect((await blog.create(platform({ slug: own }), blog.platformKey)).status).toBe(201);
    expect((await other.create(platform({ slug: own }), other.platformKey)).status).toBe(422);
    expect((await other.create(platform({ slug: own, brand: 'maths' }), other.platformKey)).status).toBe(201);
    expect((await blog.create({ title: 'T', slug: own })).status).toBe(201);
  });
});
