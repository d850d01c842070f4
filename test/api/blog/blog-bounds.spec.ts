import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../../support/http/api.js';
import { Blog, type Post } from '../../support/data/blog.js';

const api = await TestApi.shared();
const blog = await Blog.open(api);

/** JSON with everything beyond ASCII escaped. */
function escaped(body: object): string {
  return JSON.stringify(body).replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const link = (length: number) => `https://example.org/${'a'.repeat(length - 20)}`;

/** The minimum and maximum length of each field, in characters. */
const TEXTS = [
  { field: 'title', min: 1, max: 300 },
  { field: 'excerpt', min: 0, max: 2000 },
  { field: 'content', min: 0, max: 200_000 },
  { field: 'author', min: 0, max: 200 },
  { field: 'category', min: 0, max: 200 },
];

/** One character that takes four bytes, and twelve once escaped. */
const wide = (length: number) => '🎓'.repeat(length);

describe('the bounds of texts, in code points', () => {
  it.each(TEXTS)('accepts $min to $max code points in $field', async ({ field, min, max }) => {
    const { id } = await blog.make.post(blog.school);
    for (const length of [min, min + 1, max - 1, max]) {
      const text = wide(length);
      const answer = await blog.change(id, escaped({ [field]: text }));
      expect([length, answer.status]).toEqual([length, 200]);
      expect((answer.body as Record<string, unknown>)[field]).toBe(text);
      expect(((await blog.get(id)).body as Record<string, unknown>)[field]).toBe(text);
    }
    const over = await blog.change(id, { [field]: wide(max + 1) });
    expect(over.status).toBe(422);
    expect(over.body).toMatchObject({ detail: [{ loc: ['body', field], type: 'string_too_long' }] });
    if (min === 0) return;
    const under = await blog.change(id, { [field]: '' });
    expect(under.body).toMatchObject({ detail: [{ loc: ['body', field], type: 'string_too_short' }] });
  });

  it('accepts at most 50 tags of 1 to 100 code points', async () => {
    const { id } = await blog.make.post(blog.school);
    for (const tags of [[], [wide(1)], [wide(100)], Array<string>(50).fill(wide(100))]) {
      const answer = await blog.change(id, { tags });
      expect([answer.status, (answer.body as Post).tags]).toEqual([200, tags]);
    }
    const cases: [string[], (string | number)[], string][] = [
      [Array<string>(51).fill(wide(1)), ['body', 'tags'], 'too_long'],
      [[wide(1), wide(101)], ['body', 'tags', 1], 'string_too_long'],
      [[wide(1), wide(1), ''], ['body', 'tags', 2], 'string_too_short'],
    ];
    for (const [tags, loc, type] of cases) {
      const answer = await blog.change(id, { tags });
      expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc, type }] }]);
    }
  });
});

describe('the longest post', () => {
  it('is accepted by POST and PATCH with every character escaped', async () => {
    const longest = {
      title: wide(300),
      excerpt: wide(2000),
      content: wide(200_000),
      author: wide(200),
      category: wide(200),
      tags: Array<string>(50).fill(wide(100)),
      featured_image: link(2000),
    };
    const sent = escaped({ ...longest, slug: `${'a'.repeat(164)}${uuidv7()}` });
    expect(Buffer.byteLength(sent)).toBeGreaterThan(2_400_000);
    const created = await blog.create(sent);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject(longest);
    const other = await blog.make.post(blog.school);
    const changed = await blog.change(other.id, escaped(longest));
    expect([changed.status, changed.body]).toMatchObject([200, longest]);
  });
});

describe('slug', () => {
  it.each(['a', '0', 'a-b', 'a1-2b-c', 'a'.repeat(200)])('accepts %s', async (slug) => {
    const { id } = await blog.make.post(blog.school);
    expect((await blog.change(id, { slug })).body).toMatchObject({ slug });
    await blog.remove(id);
  });

  it.each([
    ['', 'string_too_short'],
    ['a'.repeat(201), 'string_too_long'],
    ...['-a', 'a-', 'a--b', 'A', 'ä', 'a b', 'a_b', 'a.b', 'a\n', '../a', '🎓'].map((slug) => [slug, 'string_pattern_mismatch']), // prettier-ignore
  ])('refuses %j with %s', async (slug, type) => {
    const { id } = await blog.make.post(blog.school);
    const answer = await blog.change(id, { slug });
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ['body', 'slug'], type }] }]);
  });
});

describe('featured_image', () => {
  it.each(['https://example.org', 'http://example.org/a.png?b=c#d', 'HTTPS://EXAMPLE.org/ä', link(1999), link(2000)])('accepts %s', async (url) => {
    const { id } = await blog.make.post(blog.school);
    expect((await blog.change(id, { featured_image: url })).body).toMatchObject({ featured_image: url });
  });

  it.each([
    [link(2001), 'string_too_long'],
    [1, 'string_type'],
    ...['', 'x', '/a.png', '//example.org/a', 'ftp://example.org/a', 'javascript:alert(1)', 'data:image/png;base64,AA',
        'https://', 'https:example.org', 'https://exa mple.org', ' https://example.org', 'https://example.org\n',
        'java\nscript:alert(1)', 'https://[::1'].map((url) => [url, 'value_error'] as const), // prettier-ignore
  ] as [unknown, string][])('refuses %j with %s', async (url, type) => {
    const { id } = await blog.make.post(blog.school);
    const answer = await blog.change(id, { featured_image: url });
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ['body', 'featured_image'], type }] }]);
  });
});

describe('invalid values', () => {
  it.each<[string, unknown, string]>([
    ['title', 'a\ud800b', 'value_error'],
    ['slug', null, 'string_type'],
    ['status', 'archived', 'enum'],
    ['tags', 'a', 'list_type'],
    ['publish_to_website', 'true', 'bool_type'],
    ['date', '2026-02-30', 'date_parsing'],
    ['scheduled_at', 'infinity', 'datetime_parsing'],
    ...['brand', 'target', 'organization_id', 'published_at', 'is_pinned'].map(
      (field) => [field, 'x', 'extra_forbidden'] as [string, unknown, string],
    ),
  ])('PATCH with %s: %j reports %s and changes nothing', async (field, value, type) => {
    const { id } = await blog.make.post(blog.school, { status: 'published', publishedAt: new Date() });
    const before = (await blog.get(id)).body as Post;
    await blog.rebuilds();
    const answer = await blog.change(id, { title: 'Anew', [field]: value });
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ['body', field], type }] }]);
    expect((await blog.get(id)).body).toEqual(before);
    expect(await blog.rebuilds()).toEqual([]);
  });
});
