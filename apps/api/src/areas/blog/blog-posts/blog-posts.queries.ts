import sql, { type Sql } from 'sql-template-tag';
import { FIELDS } from '@app/fields';
import { byValue, type Caller, kinds, list, parameter, type RecordDeclaration, Source } from '../../../http/kit.js';
import { blogPostView, POST_STATUSES, POST_TARGETS } from './blog-posts.view.js';

const OWN = ({ organizationId }: Caller) => sql`b.organization_id = ${organizationId}`;

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
  order: sql`b.is_pinned DESC, b.created_at DESC, b.id DESC`,
  sizes: { limit: 50, most: 200 },
  bare: 'array',
  parameters: [
    parameter('brand', FIELDS.blog_posts.brand, 'Only posts of this brand, one of the two configured.', {
      column: 'brand',
      comparison: 'equals',
    }),
    byValue('status', POST_STATUSES, 'Only drafts, or only published posts.'),
    parameter('target', kinds.oneOf(POST_TARGETS), 'Only the organization’s own posts, or only the platform’s.', {
      where: (target, _alias, caller) => (target === 'org' ? OWN(caller) : sql`b.organization_id IS NULL`),
    }),
  ],
});

export const POST: RecordDeclaration = {
  id: 'get_blog_post',
  path: 'v1/blog-posts/:post_id',
  summary: 'Returns one blog post',
  description: 'The `ETag` identifies this version; send it as `If-Match` with a change.',
  view: blogPostView,
  source: POSTS.source,
};

/** The post's view, locked until the end of the transaction, so that a later change sees the earlier one. */
export function lockedPost(caller: Caller, id: string): Sql {
  return sql`SELECT ${blogPostView.json} AS data FROM blog_posts b WHERE ${POSTS.source.sightOf(caller)} AND b.id = ${id} FOR UPDATE`;
}
