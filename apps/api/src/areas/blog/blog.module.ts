import { PublishingModule } from '@app/publishing';
import { Area, HttpModule } from '../../http/kit.js';
import { BlogImagesController } from './blog-images/blog-images.controller.js';
import { BlogImagesGuard } from './blog-images/blog-images.guard.js';
import { BlogImagesService } from './blog-images/blog-images.service.js';
import { BLOG_POSTS_CONTROLLERS } from './blog-posts/blog-posts.controller.js';
import { BlogPostsService } from './blog-posts/blog-posts.service.js';
import { MediaModule } from './media/media.module.js';

/** The posts of the organization and of the platform, and their images. */
@Area({
  imports: [HttpModule, MediaModule, PublishingModule],
  controllers: [...BLOG_POSTS_CONTROLLERS, BlogImagesController],
  providers: [BlogPostsService, BlogImagesService, BlogImagesGuard],
  tags: {
    'blog-posts': ['Blog posts', 'Drafts, scheduled posts and published posts.'],
    'blog-images': ['Blog images', 'Images for blog posts.'],
  },
})
export class BlogModule {}
