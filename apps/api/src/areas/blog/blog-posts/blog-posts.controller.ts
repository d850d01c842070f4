import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Delete, Documented, type Expected, IfMatch, JsonUpTo, listController, one, Patch, PathId,
  Post, recordController, RequirePlatformBlog, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreatePost, UpdatePost } from './blog-posts.dto.js';
import { POST, POSTS } from './blog-posts.queries.js';
import { BlogPostsService } from './blog-posts.service.js';
import { blogPostView } from './blog-posts.view.js';

/** 200,000 characters of content, each written as two \u escapes of six bytes, and the other fields likewise. */
const LONGEST_POST = 3 * 1_048_576;

@Controller('v1/blog-posts')
class BlogPostsController {
  constructor(private readonly blog: BlogPostsService) {}

  @Post()
  @RequireScopes('blog:write')
  @RequirePlatformBlog(({ body }) => (body as Partial<CreatePost> | null | undefined)?.target === 'platform')
  @JsonUpTo(LONGEST_POST)
  @Documented({
    id: 'create_blog_post',
    summary: 'Creates a blog post',
    description:
      'The post is a draft unless `status` says otherwise. A published post is live immediately and rebuilds ' +
      'the site.',
    answer: one(blogPostView),
    example: { title: 'Five habits before exam week', slug: 'five-habits-before-exam-week', tags: ['exams'] },
    versioned: true,
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreatePost) body: CreatePost) {
    return this.blog.create(caller, body);
  }

  @Patch(':post_id')
  @RequireScopes('blog:write')
  @JsonUpTo(LONGEST_POST)
  @Documented({
    id: 'update_blog_post',
    summary: 'Updates, publishes, schedules or unpublishes a blog post',
    description:
      '`status: published` publishes a post, or leaves a published one as it is; `draft` unpublishes it. A ' +
      'draft with `scheduled_at` is published at that time. A change that is visible on the site rebuilds it ' +
      'once. Omitted fields stay unchanged.',
    answer: one(blogPostView),
    example: { status: 'published' },
    versioned: true,
  })
  update(
    @CurrentCaller() caller: Caller,
    @PathId('post_id') id: string,
    @IfMatch() expected: Expected,
    @ValidBody(UpdatePost) body: UpdatePost,
  ) {
    return this.blog.update(caller, id, expected, body);
  }

  @Delete(':post_id', 204)
  @RequireScopes('blog:write')
  @Documented({
    id: 'remove_blog_post',
    summary: 'Deletes a blog post',
    description: 'If the post was published, its site is rebuilt without it.',
    answer: null,
    versioned: true,
  })
  remove(@CurrentCaller() caller: Caller, @PathId('post_id') id: string, @IfMatch() expected: Expected) {
    return this.blog.remove(caller, id, expected);
  }
}

export const BLOG_POSTS_CONTROLLERS = [listController(POSTS), recordController(POST), BlogPostsController];
