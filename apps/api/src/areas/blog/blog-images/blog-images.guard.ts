import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ImageUploads } from '../media/image-uploads.js';
import type { PlaceImage } from './blog-images.dto.js';
import { BlogImagesService } from './blog-images.service.js';

/** Reads the body after the key, rate limit, scopes and query were checked. */
@Injectable()
export class BlogImagesGuard implements CanActivate {
  constructor(
    private readonly images: BlogImagesService,
    private readonly uploads: ImageUploads,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const folder = this.images.folderOf(request.caller!, request.query as unknown as PlaceImage);
    await this.uploads.accept(request, http.getResponse<Response>(), folder);
    return true;
  }
}
