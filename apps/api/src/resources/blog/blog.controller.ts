import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { array, Documented } from '../../http/openapi/operation.decorator.js';
import { ListPosts } from './blog.dto.js';
import { BlogService } from './blog.service.js';
import { blogPostView } from './blog.view.js';

@Controller('v1/blog-posts')
export class BlogController {
  constructor(private readonly blog: BlogService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_blog_posts',
    summary: 'Lists blog posts, drafts too, pinned first, then newest first',
    description:
      'A bare array without an envelope. The organization’s own posts; the platform’s too when the key has the ' +
      'platform-blog capability.',
    answer: array(blogPostView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListPosts) {
    return this.blog.list(caller, query);
  }
}
