import sql, { join, raw, type Sql } from 'sql-template-tag';
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

/** Whether the post `b` is the caller's to see and to change. */
export function inSight(caller: Caller): Sql {
  const own = sql`b.organization_id = ${caller.organizationId}`;
  return caller.platformBlog ? sql`(${own} OR b.organization_id IS NULL)` : own;
}

/** The post as its view has it, locked until the transaction ends: of two changes the later one sees the earlier. */
export function lockedPost(caller: Caller, id: string): Sql {
  return sql`SELECT ${blogPostView.json} AS data FROM blog_posts b WHERE ${inSight(caller)} AND b.id = ${id} FOR UPDATE`;
}

/** A new post. Columns have the names of their fields. */
export function insertPost(row: Record<string, unknown>): Sql {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined);
  return sql`INSERT INTO blog_posts (${join(columns.map(([name]) => raw(name)))})
    VALUES (${join(columns.map(([, value]) => sql`${stored(value)}`))})`;
}

/** The assignments that make the post what is wanted: only of fields that differ. */
export function differences(post: object, wanted: object): Sql[] {
  const current = post as Record<string, unknown>;
  return Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(current[name]))
    .map(([name, value]) => sql`${raw(name)} = ${stored(value)}`);
}

/** The driver would write an instant in the zone of this machine, whose early years are odd. */
function stored(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
