import { Injectable } from '@nestjs/common';
import { Audit, type Caller } from '../../../http/kit.js';
import type { UploadedImage } from '../media/image-uploads.js';
import type { PlaceImage } from './blog-images.dto.js';

@Injectable()
export class BlogImagesService {
  constructor(private readonly audit: Audit) {}

  /** The folder for the caller's image. */
  folderOf(caller: Caller, { target, brand }: PlaceImage): string {
    return target === 'org' ? `org/${caller.organizationId}` : `platform/${brand!}`;
  }

  create(image: UploadedImage): { url: string; path: string; size_bytes: number } {
    image.take();
    // Only the id: the path contains the client's file name.
    this.audit.note({ image_id: image.id, size_bytes: image.size });
    return { url: image.url, path: image.path, size_bytes: image.size };
  }
}
