import { Module } from '@nestjs/common';
import { HttpModule } from '../../../http/kit.js';
import { MediaModule } from '../media/media.module.js';
import { BlogImagesController } from './blog-images.controller.js';
import { BlogImagesGuard } from './blog-images.guard.js';
import { BlogImagesService } from './blog-images.service.js';

@Module({
  imports: [HttpModule, MediaModule],
  controllers: [BlogImagesController],
  providers: [BlogImagesService, BlogImagesGuard],
})
export class BlogImagesModule {}
