import { VALUES } from '@app/database';
import { day, flag, instant, like, nullable, oneOf, text, texts, uuid, View } from '../../../http/kit.js';

export const POST_STATUSES = VALUES.blog_posts.status;
export const POST_TARGETS = ['platform', 'org'] as const;

export const blogPostView = new View('BlogPost', {
  id: uuid('b.id'),
  target: like(
    nullable(oneOf(`CASE WHEN b.organization_id IS NULL THEN 'platform' ELSE 'org' END`, POST_TARGETS)),
    'org',
  ),
  brand: nullable(text('b.brand', 'primary')),
  organization_id: nullable(uuid('b.organization_id')),
  title: nullable(text('b.title', 'Five habits before exam week')),
  slug: nullable(text('b.slug', 'five-habits-before-exam-week')),
  status: like(nullable(oneOf('b.status', POST_STATUSES)), 'published'),
  excerpt: nullable(text('b.excerpt', 'Sleep, past papers, and three more habits that hold.')),
  content: nullable(text('b.content', '<p>The week before exams is for past papers, not for new chapters.</p>')),
  author: nullable(text('b.author', 'Sam Okafor')),
  tags: texts('b.tags', { type: 'string', examples: ['exams'] }),
  featured_image: nullable(text('b.featured_image', 'https://example.org/image.jpg')),
  category: nullable(text('b.category', 'Study tips')),
  date: nullable(day('b.date')),
  publish_to_website: nullable(flag('b.publish_to_website')),
  publish_to_portal: like(nullable(flag('b.publish_to_portal')), false),
  is_pinned: like(nullable(flag('b.is_pinned')), false),
  published_at: nullable(instant('b.published_at')),
  scheduled_at: like(nullable(instant('b.scheduled_at')), null),
  created_at: like(nullable(instant('b.created_at')), '2026-04-28T04:12:00.000Z'),
  updated_at: nullable(instant('b.updated_at')),
});
