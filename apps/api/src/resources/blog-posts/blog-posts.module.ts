import { Module } from '@nestjs/common';
import { PublishingModule } from '@app/publishing';
import { HttpModule } from '../../http/http.module.js';
import { BlogPostsController } from './blog-posts.controller.js';
import { BlogPostsService } from './blog-posts.service.js';

@Module({ imports: [HttpModule, PublishingModule], controllers: [BlogPostsController], providers: [BlogPostsService] })
export class BlogPostsModule {}
