import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A blog post of an organization or, without one, of the platform itself. */
@Entity('blog_posts')
export class BlogPost {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ name: 'organization_id', type: 'uuid', nullable: true })
  organizationId: string | null;

  @Column({ type: 'text' })
  brand: string;

  @Column({ type: 'text' })
  title: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text', default: 'draft' })
  status: 'draft' | 'published';

  @Column({ type: 'text', nullable: true })
  excerpt: string | null;

  @Column({ type: 'text', nullable: true })
  content: string | null;

  @Column({ type: 'text', nullable: true })
  author: string | null;

  @Column({ type: 'text', array: true, default: () => "'{}'" })
  tags: string[];

  @Column({ name: 'featured_image', type: 'text', nullable: true })
  featuredImage: string | null;

  @Column({ type: 'text', nullable: true })
  category: string | null;

  @Column({ type: 'date', nullable: true })
  date: string | null;

  @Column({ name: 'publish_to_website', type: 'boolean', default: true })
  publishToWebsite: boolean;

  @Column({ name: 'publish_to_portal', type: 'boolean', default: false })
  publishToPortal: boolean;

  @Column({ name: 'is_pinned', type: 'boolean', default: false })
  isPinned: boolean;

  @Column({ name: 'published_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  publishedAt: Date | null;

  @Column({ name: 'scheduled_at', type: 'timestamp with time zone', precision: 3, nullable: true })
  scheduledAt: Date | null;

  @Column({ name: 'created_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamp with time zone', precision: 3, default: () => 'now()' })
  updatedAt: Date;
}
