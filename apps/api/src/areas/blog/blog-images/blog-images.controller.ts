import { Controller, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import {
  Documented, one, Post, RequirePlatformBlog, RequireScopes, Upload, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { PlaceImage } from './blog-images.dto.js';
import { BlogImagesGuard } from './blog-images.guard.js';
import { BlogImagesService } from './blog-images.service.js';
import { blogImageShape } from './blog-images.view.js';

@Controller('v1/blog-images')
export class BlogImagesController {
  constructor(private readonly images: BlogImagesService) {}

  @Post()
  @RequireScopes('blog:write')
  @RequirePlatformBlog(({ query }) => [query.target].flat().includes('platform'))
  @Upload()
  @UseGuards(BlogImagesGuard)
  @Documented({
    id: 'upload_blog_image',
    summary: 'Uploads an image for blog posts',
    description:
      'One part `file`: a JPEG, PNG, WebP, GIF or AVIF (by its content) of at most 10 MB (10,485,760 bytes) and ' +
      '200 frames. A JPEG or PNG can have at most 50 megapixels (25 if it is progressive, CMYK or has 16 bits per ' +
      'channel), a GIF 50 in all frames and 16 in each, a WebP 25 (10 if it is lossless or transparent), an ' +
      'AVIF 16 (6 if it is transparent or deeper than 8 bits). The image is re-encoded, upright and without ' +
      'metadata such as the location. Use the `url` as `featured_image` or inside the content.',
    answer: one(blogImageShape),
  })
  create(@Req() { image }: Request, @ValidQuery(PlaceImage) _place: PlaceImage) {
    return this.images.create(image!);
  }
}
