import { Module } from '@nestjs/common';
import { PublishingModule } from '@app/publishing';
import { HttpModule, listController, recordController } from '../../../http/kit.js';
import { BlogPostsController } from './blog-posts.controller.js';
import { POST, POSTS } from './blog-posts.queries.js';
import { BlogPostsService } from './blog-posts.service.js';

@Module({
  imports: [HttpModule, PublishingModule],
  controllers: [listController(POSTS), recordController(POST), BlogPostsController],
  providers: [BlogPostsService],
})
export class BlogPostsModule {}
