import { Controller, Post, Query, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { RequirePlatformBlog, RequireScopes } from '../../http/auth/access.decorators.js';
import { Documented, one } from '../../http/openapi/operation.decorator.js';
import { Upload } from '../../http/validation/declared.js';
import { Idempotent } from '../../http/writes/idempotency-key.js';
import { PlaceImage } from './blog-images.dto.js';
import { BlogImagesGuard } from './blog-images.guard.js';
import { BlogImagesService } from './blog-images.service.js';
import { blogImageShape } from './blog-images.view.js';

@Controller('v1/blog-images')
export class BlogImagesController {
  constructor(private readonly images: BlogImagesService) {}

  @Post()
  @RequireScopes('blog:write')
  @RequirePlatformBlog(({ query }) => (query as PlaceImage).target === 'platform')
  @Idempotent()
  @Upload()
  @UseGuards(BlogImagesGuard)
  @Documented({
    id: 'upload_blog_image',
    summary: 'Uploads an image for blog posts',
    description:
      'One part `file`: a JPEG, PNG, WebP, GIF or AVIF (by its content) of at most 10 MB (10,485,760 bytes), 50 ' +
      'megapixels (a WebP 25, an AVIF 16) and 200 frames. The image is encoded anew, upright and without metadata such as the ' +
      'place where it was taken. The `url` serves as `featured_image` or inside the content.',
    answer: one(blogImageShape),
  })
  create(@Req() { image }: Request, @Query() _place: PlaceImage) {
    return this.images.create(image!);
  }
}
