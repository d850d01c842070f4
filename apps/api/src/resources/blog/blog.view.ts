import { day, flag, instant, nullable, oneOf, text, texts, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const POST_STATUSES = ['draft', 'published'] as const;
export const POST_TARGETS = ['platform', 'org'] as const;

export const blogPostView = new View('BlogPost', {
  id: uuid('b.id'),
  target: nullable(oneOf(`CASE WHEN b.organization_id IS NULL THEN 'platform' ELSE 'org' END`, POST_TARGETS)),
  brand: nullable(text('b.brand', 'primary')),
  organization_id: nullable(uuid('b.organization_id')),
  title: nullable(text('b.title', 'Five habits before exam week')),
  slug: nullable(text('b.slug', 'five-habits-before-exam-week')),
  status: nullable(oneOf('b.status', POST_STATUSES)),
  excerpt: nullable(text('b.excerpt')),
  content: nullable(text('b.content')),
  author: nullable(text('b.author')),
  tags: texts('b.tags', { type: 'string', examples: ['exams'] }),
  featured_image: nullable(text('b.featured_image', 'https://example.org/image.jpg')),
  category: nullable(text('b.category')),
  date: nullable(day('b.date')),
  publish_to_website: nullable(flag('b.publish_to_website')),
  publish_to_portal: nullable(flag('b.publish_to_portal')),
  is_pinned: nullable(flag('b.is_pinned')),
  published_at: nullable(instant('b.published_at')),
  scheduled_at: nullable(instant('b.scheduled_at')),
  created_at: nullable(instant('b.created_at')),
  updated_at: nullable(instant('b.updated_at')),
});
