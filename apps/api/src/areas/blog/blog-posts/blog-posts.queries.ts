import sql, { join, type Sql } from 'sql-template-tag';
import { FIELDS } from '@app/fields';
import { byValue, type Caller, kinds, list, parameter, type RecordDeclaration, Source } from '../../../http/kit.js';
import { blogPostView, POST_STATUSES, POST_TARGETS } from './blog-posts.view.js';

const ORDER = sql`b.is_pinned DESC, b.created_at DESC, b.id DESC`;
const OWN = ({ organizationId }: Caller) => sql`b.organization_id = ${organizationId}`;
const PLATFORM = sql`b.organization_id IS NULL`;

/** The organization's own posts, and the platform's with the capability. */
export const POSTS = list({
  id: 'list_blog_posts',
  path: 'v1/blog-posts',
  summary: 'Lists blog posts, including drafts, pinned first, then newest first',
  description:
    'A bare array without an envelope. It contains the organization’s own posts, and the platform’s if the ' +
    'key has the platform-blog capability.',
  view: blogPostView,
  source: new Source('blog_posts', 'b', { platform: true }),
  order: ORDER,
  sizes: { limit: 50, most: 200 },
  bare: 'array',
  parameters: [
    parameter('brand', FIELDS.blog_posts.brand, 'Only posts of this brand, one of the two configured.', {
      column: 'brand',
      comparison: 'equals',
    }),
    byValue('status', POST_STATUSES, 'Only drafts, or only published posts.'),
    parameter('target', kinds.oneOf(POST_TARGETS), 'Only the organization’s own posts, or only the platform’s.'),
  ],
  select({ target }, caller) {
    if (target) return { filters: [target === 'org' ? OWN(caller) : PLATFORM] };
    return caller.platformBlog ? { ids: (page, filters) => mergedIds(caller, filters, page) } : {};
  },
});

export const POST: RecordDeclaration = {
  id: 'get_blog_post',
  path: 'v1/blog-posts/:post_id',
  summary: 'Returns one blog post',
  description: 'The `ETag` identifies this version; send it as `If-Match` with a change.',
  view: blogPostView,
  source: POSTS.source,
};

/** Merges both kinds of posts: one index scan for each, only as far as the page reaches. */
function mergedIds(caller: Caller, filters: Sql[], { limit, offset }: { limit: number; offset: number }): Sql {
  const walks = [OWN(caller), PLATFORM].map(
    (kind) => sql`(SELECT b.id, b.is_pinned, b.created_at FROM blog_posts b WHERE ${join([kind, ...filters], ' AND ')}
      ORDER BY ${ORDER} LIMIT ${limit + offset})`,
  );
  return sql`SELECT b.id FROM (${join(walks, ' UNION ALL ')}) b ORDER BY ${ORDER} LIMIT ${limit} OFFSET ${offset}`;
}

/** The post's view, locked until the end of the transaction, so that a later change sees the earlier one. */
export function lockedPost(caller: Caller, id: string): Sql {
  return sql`SELECT ${blogPostView.json} AS data FROM blog_posts b WHERE ${POSTS.source.sightOf(caller)} AND b.id = ${id} FOR UPDATE`;
}
