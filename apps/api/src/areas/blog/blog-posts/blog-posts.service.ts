import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env } from '@app/config';
import { Database, driverErrorOf, SQLSTATE, sqlStateOf } from '@app/database';
import { type PostState, Publishing } from '@app/publishing';
import { Refused } from '@app/rules';
import { Audit, type Caller, type Expected, JsonText, Records, requireVersion, tagged } from '../../../http/kit.js';
import { type CreatePost, SCHEDULED_AND_PUBLISHED, type UpdatePost } from './blog-posts.dto.js';
import { differences, insertPost, lockedPost, POST } from './blog-posts.queries.js';

/** Unique indexes of slugs: in an organization, and in a brand of the platform. */
const SLUG_INDEXES = new Set(['blog_posts_organization_slug', 'blog_posts_platform_slug']);

const SLUG_TAKEN = 'Another post already has this slug. Choose a different one.';

/** The parts of a post's view that a change needs. */
interface LockedPost extends PostState {
  record: JsonText;
  fields: object;
}

@Injectable()
export class BlogPostsService {
  constructor(
    private readonly records: Records,
    private readonly db: Database,
    private readonly publishing: Publishing,
    private readonly audit: Audit,
    private readonly env: Env,
  ) {}

  async create(caller: Caller, { target, brand, ...fields }: CreatePost): Promise<JsonText> {
    const published = fields.status === 'published';
    const post = {
      id: uuidv7(),
      organizationId: target === 'platform' ? null : caller.organizationId,
      brand: brand ?? this.env.get('BLOG_BRANDS')[0]!,
    };
    const row = { id: post.id, organization_id: post.organizationId, brand: post.brand, ...fields };
    await withFreeSlug(
      this.db.query(insertPost({ ...row, ...(published && { published_at: new Date(), scheduled_at: null }) })),
    );
    if (published) await this.publishing.rebuild(post);
    return this.written(caller, post.id);
  }

  async update(caller: Caller, id: string, expected: Expected, wanted: UpdatePost): Promise<JsonText> {
    const post = await this.lock(caller, id, expected);
    const { status = post.status, scheduled_at, ...fields } = wanted;
    if (scheduled_at && status === 'published') throw Refused.invalid(SCHEDULED_AND_PUBLISHED, 'scheduled_at');
    // Publishing clears the schedule.
    const schedule = status === 'published' ? {} : { scheduled_at };
    const columns = differences(post.fields, { ...fields, ...schedule });
    if (columns.length > 0 || status !== post.status) {
      await withFreeSlug(this.publishing.change(post, status, columns));
    }
    return this.written(caller, id);
  }

  async remove(caller: Caller, id: string, expected: Expected): Promise<void> {
    const post = await this.lock(caller, id, expected);
    await this.db.query(sql`
      DELETE FROM blog_posts WHERE id = ${id} AND organization_id IS NOT DISTINCT FROM ${post.organizationId}::uuid`);
    if (post.status === 'published') await this.publishing.rebuild(post);
    this.audit.note({ post_id: id });
  }

  /** @throws Refused for a post that the caller may not see; ApiError 412 for a version other than the expected one */
  private async lock(caller: Caller, id: string, expected: Expected): Promise<LockedPost> {
    const [row] = await this.db.query<{ data: string }>(lockedPost(caller, id));
    if (!row) throw Refused.notFound();
    const record = new JsonText(row.data);
    requireVersion(record, expected);
    const fields = JSON.parse(row.data) as Pick<PostState, 'brand' | 'status'> & { organization_id: string | null };
    return { id, organizationId: fields.organization_id, brand: fields.brand, status: fields.status, record, fields };
  }

  private async written(caller: Caller, id: string): Promise<JsonText> {
    this.audit.note({ post_id: id });
    return tagged(await this.records.written(caller, POST, id));
  }
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
