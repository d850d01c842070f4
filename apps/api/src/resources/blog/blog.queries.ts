import sql, { join, type Sql } from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import type { ListPosts } from './blog.dto.js';
import { blogPostView } from './blog.view.js';

const ORDER = sql`is_pinned DESC, created_at DESC, id DESC`;

/**
 * Posts in sight of the caller: the organization's own, and the platform's with the capability. Each kind is a walk of the
 * same index as far as the page reaches; the two are merged.
 */
export function postsInSight(caller: Caller, query: ListPosts): Sql {
  const own = sql`b.organization_id = ${caller.organizationId}`;
  const platform = sql`b.organization_id IS NULL`;
  const kinds = [
    ...(query.target === 'platform' ? [] : [own]),
    ...(query.target === 'org' || !caller.platformBlog ? [] : [platform]),
  ];
  if (kinds.length === 0) return sql`SELECT NULL AS json WHERE false`;
  const reach = query.limit + query.offset;
  const walks = kinds.map((kind) => {
    const filters = [kind, equals('b.brand', query.brand), equals('b.status', query.status)];
    return sql`(SELECT ${blogPostView.json} AS json, b.is_pinned, b.created_at, b.id FROM blog_posts b
      WHERE ${join(
        filters.filter((filter) => filter !== null),
        ' AND ',
      )} ORDER BY ${ORDER} LIMIT ${reach})`;
  });
  return sql`SELECT json FROM (${join(walks, ' UNION ALL ')}) p ORDER BY ${ORDER} LIMIT ${query.limit} OFFSET ${query.offset}`;
}
