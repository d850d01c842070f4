import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { type PostState, Publishing } from '@app/publishing';
import { Refused } from '@app/rules';
import { Audit, type Caller, type Expected, JsonText, Records, requireVersion, tagged } from '../../../http/kit.js';
import { type CreatePost, SCHEDULED_AND_PUBLISHED, type UpdatePost } from './blog-posts.dto.js';
import { lockedPost, POST } from './blog-posts.queries.js';

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
    const { status, ...rest } = fields;
    const post = {
      organizationId: target === 'platform' ? null : caller.organizationId,
      brand: brand ?? this.env.get('BLOG_BRANDS')[0]!,
      status,
    };
    return this.written(caller, await this.publishing.add(post, rest));
  }

  async update(caller: Caller, id: string, expected: Expected, wanted: UpdatePost): Promise<JsonText> {
    const post = await this.lock(caller, id, expected);
    const { status = post.status, scheduled_at, ...fields } = wanted;
    if (scheduled_at && status === 'published') throw Refused.invalid(SCHEDULED_AND_PUBLISHED, 'scheduled_at');
    // Publishing clears the schedule.
    const schedule = status === 'published' ? {} : { scheduled_at };
    await this.publishing.change(post, status, { ...fields, ...schedule });
    return this.written(caller, id);
  }

  async remove(caller: Caller, id: string, expected: Expected): Promise<void> {
    const post = await this.lock(caller, id, expected);
    await this.publishing.remove(post);
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
