import { Area } from '../../http/kit.js';
import { BlogImagesModule } from './blog-images/blog-images.module.js';
import { BlogPostsModule } from './blog-posts/blog-posts.module.js';

/** The posts of the organization and of the platform, and their images. */
@Area({
  imports: [BlogPostsModule, BlogImagesModule],
  tags: {
    'blog-posts': ['Blog posts', 'Drafts, scheduled posts and published posts.'],
    'blog-images': ['Blog images', 'Images for blog posts.'],
  },
})
export class BlogModule {}
