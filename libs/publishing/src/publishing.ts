import { Injectable } from '@nestjs/common';
import sql, { join, type Sql } from 'sql-template-tag';
import { Database, type Tenant } from '@app/database';
import { Outbox } from '@app/jobs';

export type PostStatus = 'draft' | 'published';

/** The state of a locked post. */
export interface PostState {
  id: string;
  /** null for the platform's own posts. */
  organizationId: string | null;
  brand: string;
  status: PostStatus;
}

/** No organization has this id: the platform's posts are only visible through the capability. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

/** Versions of a post always have different times, even in quick succession. */
const TOUCHED = sql`updated_at = greatest(clock_timestamp()::timestamptz(3), updated_at + interval '1 millisecond')`;

/** Changes blog posts, for a caller's PATCH and for the worker's schedule, inside the ambient transaction on a locked row. */
@Injectable()
export class Publishing {
  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
  ) {}

  /** The tenant for which the worker changes a post. */
  static tenantOf(organizationId: string | null): Tenant {
    return { organizationId: organizationId ?? NO_ORGANIZATION, platformBlog: organizationId === null };
  }

  /** Writes the columns, changes the status, and requests a rebuild if the post was or becomes published. */
  async change(post: PostState, status: PostStatus, columns: Sql[] = []): Promise<void> {
    await this.db.query(sql`
      UPDATE blog_posts SET ${join([...columns, ...statusColumns(post.status, status), TOUCHED])}
      WHERE id = ${post.id} AND organization_id IS NOT DISTINCT FROM ${post.organizationId}::uuid`);
    if (post.status === 'published' || status === 'published') await this.rebuild(post);
  }

  /** Publishes a scheduled post. @returns false when it is deleted, no longer due, or locked by another worker */
  async publishDue({ id, organizationId }: Pick<PostState, 'id' | 'organizationId'>): Promise<boolean> {
    const [post] = await this.db.query<{ brand: string }>(sql`
      SELECT brand FROM blog_posts
      WHERE id = ${id} AND organization_id IS NOT DISTINCT FROM ${organizationId}::uuid
        AND status = 'draft' AND scheduled_at <= now() FOR UPDATE SKIP LOCKED`);
    if (!post) return false;
    await this.change({ id, organizationId, brand: post.brand, status: 'draft' }, 'published');
    return true;
  }

  /** Rebuilds the site that shows the post: its organization's or its brand's. */
  async rebuild({ organizationId, brand }: Pick<PostState, 'organizationId' | 'brand'>): Promise<void> {
    const target = organizationId === null ? (`brand:${brand}` as const) : (`organization:${organizationId}` as const);
    await this.outbox.addRebuild(organizationId, target);
  }
}

/** Columns that change with the status. */
function statusColumns(from: PostStatus, to: PostStatus): Sql[] {
  if (from === to) return [];
  if (to === 'draft') return [sql`status = 'draft'`, sql`published_at = NULL`];
  return [sql`status = 'published'`, sql`published_at = clock_timestamp()`, sql`scheduled_at = NULL`];
}
