import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, driverErrorOf, SQLSTATE, sqlStateOf, type Tenant } from '@app/database';
import { Outbox } from '@app/jobs';
import { Refused } from '@app/rules';

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

/** Unique indexes of slugs: in an organization, and in a brand of the platform. */
const SLUG_INDEXES = new Set(['blog_posts_organization_slug', 'blog_posts_platform_slug']);

const SLUG_TAKEN = 'Another post already has this slug. Choose a different one.';

/** Writes blog posts, for a caller's requests and for the worker's schedule, inside the ambient transaction. */
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

  /** @param fields named like their columns @returns its id @throws Refused at `slug` if another post has it */
  async add(post: Omit<PostState, 'id'>, fields: object): Promise<string> {
    const id = uuidv7();
    const published = post.status === 'published' && { published_at: new Date(), scheduled_at: null };
    const { organizationId: organization_id, brand, status } = post;
    const columns = Object.entries({ ...fields, id, organization_id, brand, status, ...published }).filter(isNamed);
    await withFreeSlug(
      this.db.query(sql`
        INSERT INTO blog_posts (${join(columns.map(([name]) => raw(name)))})
        VALUES (${join(columns.map(([, value]) => sql`${stored(value)}`))})`),
    );
    if (published) await this.rebuild(post);
    return id;
  }

  /**
   * Writes what differs, changes the status, and requests a rebuild if the post was or becomes published.
   *
   * @param post locked, with its fields if some are `wanted` @throws Refused at `slug` if another post has it
   */
  async change(post: PostState & { fields?: object }, status: PostStatus, wanted: object = {}): Promise<void> {
    const columns = differences(post.fields ?? {}, wanted);
    if (columns.length === 0 && status === post.status) return;
    await withFreeSlug(
      this.db.query(sql`
        UPDATE blog_posts SET ${join([...columns, ...statusColumns(post.status, status), TOUCHED])}
        WHERE id = ${post.id} AND organization_id IS NOT DISTINCT FROM ${post.organizationId}::uuid`),
    );
    if (post.status === 'published' || status === 'published') await this.rebuild(post);
  }

  async remove(post: PostState): Promise<void> {
    await this.db.query(sql`
      DELETE FROM blog_posts
      WHERE id = ${post.id} AND organization_id IS NOT DISTINCT FROM ${post.organizationId}::uuid`);
    if (post.status === 'published') await this.rebuild(post);
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

const isNamed = ([, value]: [string, unknown]): boolean => value !== undefined;

/** Assignments for the fields that differ. */
function differences(post: object, wanted: object): Sql[] {
  const current = post as Record<string, unknown>;
  return Object.entries(wanted)
    .filter(isNamed)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name]))
    .map(([name, value]) => sql`${raw(name)} = ${stored(value)}`);
}

/** The driver would format instants in this machine's time zone, which is wrong for early years. */
function stored(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** A violation of the slug's unique indexes is a fault of the request. */
async function withFreeSlug<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const { constraint = '' } = driverErrorOf(error) as { constraint?: string };
    if (sqlStateOf(error) !== SQLSTATE.uniqueViolation || !SLUG_INDEXES.has(constraint)) throw error;
    throw Refused.invalid(SLUG_TAKEN, 'slug');
  }
}
