import { FIELDS } from '@app/fields';
import { Fault, field, type Interdependent, TOGETHER } from '../../../http/kit.js';
import { POST_STATUSES, POST_TARGETS } from './blog-posts.view.js';

/** A published post has no schedule. */
export const SCHEDULED_AND_PUBLISHED =
  'A published post cannot be scheduled. Leave this out, or set the status to "draft".';

const PLATFORM_BRAND_MISSING = new Fault('missing', 'Required for posts of the platform.', ['brand']);

/** Fields of a post that may be empty. */
class WritablePost {
  @field.bodyField(FIELDS.blog_posts.excerpt, { nullable: true })
  excerpt?: string | null;

  @field.bodyField(FIELDS.blog_posts.content, { nullable: true })
  content?: string | null;

  @field.bodyField(FIELDS.blog_posts.featured_image, {
    nullable: true,
    description: 'URL of a public image, for example one from `POST /v1/blog-images`.',
  })
  featured_image?: string | null;

  @field.bodyField(FIELDS.blog_posts.author, { nullable: true })
  author?: string | null;

  @field.bodyField(FIELDS.blog_posts.category, { nullable: true })
  category?: string | null;

  @field.Day({ nullable: true })
  date?: string | null;

  @field.Instant({ nullable: true, description: 'When to publish the draft automatically; null for never.' })
  scheduled_at?: Date | null;
}

function scheduledAndPublished({ status, scheduled_at }: UpdatePost | CreatePost): Fault[] {
  return status === 'published' && scheduled_at instanceof Date
    ? [new Fault('value_error', SCHEDULED_AND_PUBLISHED, ['scheduled_at'])]
    : [];
}

/** Omitted fields stay unchanged. */
export class UpdatePost extends WritablePost implements Interdependent {
  @field.bodyField(FIELDS.blog_posts.title)
  title?: string;

  @field.bodyField(FIELDS.blog_posts.slug, {
    description: 'Unique within the organization, or for the platform’s posts within the brand.',
  })
  slug?: string;

  @field.bodyField(FIELDS.blog_posts.tags)
  tags?: string[];

  @field.Flag()
  publish_to_website?: boolean;

  @field.Flag()
  publish_to_portal?: boolean;

  @field.OneOf(POST_STATUSES)
  status?: 'draft' | 'published';

  [TOGETHER](): Fault[] {
    return scheduledAndPublished(this);
  }
}

/** All fields except title and slug are optional. */
export class CreatePost extends WritablePost implements Interdependent {
  @field.bodyField(FIELDS.blog_posts.title, { required: true })
  title: string;

  @field.bodyField(FIELDS.blog_posts.slug, {
    required: true,
    description: 'Unique within the organization, or for the platform’s posts within the brand.',
  })
  slug: string;

  @field.bodyField(FIELDS.blog_posts.tags, { default: [] })
  tags: string[] = [];

  @field.Flag({ default: true })
  publish_to_website = true;

  @field.Flag({ default: false })
  publish_to_portal = false;

  @field.OneOf(POST_STATUSES, { default: 'draft' })
  status: 'draft' | 'published' = 'draft';

  @field.OneOf(POST_TARGETS, { description: '`platform` needs the platform-blog capability.', default: 'org' })
  target: 'platform' | 'org' = 'org';

  @field.bodyField(FIELDS.blog_posts.brand, {
    nullable: true,
    description: 'Required for `platform`; otherwise it defaults to the first of the two.',
  })
  brand?: string | null;

  [TOGETHER](): Fault[] {
    const missing = this.target === 'platform' && (this.brand ?? null) === null;
    return [...scheduledAndPublished(this), ...(missing ? [PLATFORM_BRAND_MISSING] : [])];
  }
}
