import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Caller, type List, Source } from '../../../http/kit.js';
import { ListPosts } from './blog-posts.dto.js';
import { blogPostView } from './blog-posts.view.js';

const ORDER = sql`b.is_pinned DESC, b.created_at DESC, b.id DESC`;
const OWN = ({ organizationId }: Caller) => sql`b.organization_id = ${organizationId}`;
const PLATFORM = sql`b.organization_id IS NULL`;

/** The organization's own posts, and the platform's with the capability. */
export const POSTS: List<ListPosts> = {
  id: 'list_blog_posts',
  path: 'v1/blog-posts',
  query: ListPosts,
  summary: 'Lists blog posts, including drafts, pinned first, then newest first',
  description:
    'A bare array without an envelope. It contains the organization’s own posts, and the platform’s if the ' +
    'key has the platform-blog capability.',
  view: blogPostView,
  source: new Source('blog_posts', 'b', { platform: true }),
  order: ORDER,
  bare: true,
  select({ target, brand, status }, caller) {
    const filters = [
      brand === undefined ? null : sql`b.brand = ${brand}`,
      status === undefined ? null : sql`b.status = ${status}`,
    ];
    if (target === 'org') filters.push(OWN(caller));
    if (target === 'platform') filters.push(PLATFORM);
    if (!caller.platformBlog || target) return { filters };
    return { filters, ids: (page) => mergedIds(caller, filters, page) };
  },
};

/** Merges both kinds of posts: one index scan for each, only as far as the page reaches. */
function mergedIds(caller: Caller, filters: (Sql | null)[], { limit, offset }: { limit: number; offset: number }): Sql {
  const walks = [OWN(caller), PLATFORM].map((kind) => {
    const conditions = [kind, ...filters.filter((filter) => filter !== null)];
    return sql`(SELECT b.id, b.is_pinned, b.created_at FROM blog_posts b WHERE ${join(conditions, ' AND ')}
      ORDER BY ${ORDER} LIMIT ${limit + offset})`;
  });
  return sql`SELECT b.id FROM (${join(walks, ' UNION ALL ')}) b ORDER BY ${ORDER} LIMIT ${limit} OFFSET ${offset}`;
}

/** The post's view, locked until the end of the transaction, so that a later change sees the earlier one. */
export function lockedPost(caller: Caller, id: string): Sql {
  return sql`SELECT ${blogPostView.json} AS data FROM blog_posts b WHERE ${POSTS.source.sightOf(caller)} AND b.id = ${id} FOR UPDATE`;
}

/** Inserts a post. Columns are named like fields. */
export function insertPost(row: Record<string, unknown>): Sql {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined);
  return sql`INSERT INTO blog_posts (${join(columns.map(([name]) => raw(name)))})
    VALUES (${join(columns.map(([, value]) => sql`${stored(value)}`))})`;
}

/** Assignments for the fields that differ. */
export function differences(post: object, wanted: object): Sql[] {
  const current = post as Record<string, unknown>;
  return Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(current[name]))
    .map(([name, value]) => sql`${raw(name)} = ${stored(value)}`);
}

/** The driver would format instants in this machine's time zone, which is wrong for early years. */
function stored(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
