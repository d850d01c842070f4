import { Module } from '@nestjs/common';
import { PublishingModule } from '@app/publishing';
import { HttpModule } from '../../http/http.module.js';
import { BlogController } from './blog.controller.js';
import { BlogService } from './blog.service.js';

@Module({ imports: [HttpModule, PublishingModule], controllers: [BlogController], providers: [BlogService] })
export class BlogModule {}
