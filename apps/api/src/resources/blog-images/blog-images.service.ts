import { Injectable } from '@nestjs/common';
import type { Caller } from '../../http/auth/caller.js';
import { ValidationFailed } from '../../http/errors/api-error.js';
import { Audit } from '../../http/writes/audit.js';
import type { UploadedImage } from '../../media/image-uploads.js';
import type { PlaceImage } from './blog-images.dto.js';

@Injectable()
export class BlogImagesService {
  constructor(private readonly audit: Audit) {}

  /** Where the caller's image goes. @throws ValidationFailed without a brand */
  folderOf(caller: Caller, { target = 'org', brand }: PlaceImage): string {
    if (target === 'org') return `org/${caller.organizationId}`;
    if (brand) return `platform/${brand}`;
    const msg = 'Images of the platform need a brand.';
    throw new ValidationFailed([{ loc: ['query', 'brand'], msg, type: 'missing' }]);
  }

  create(image: UploadedImage): { url: string; path: string; size_bytes: number } {
    image.take();
    // The path holds the client's name for the file: the id alone says which one it is.
    this.audit.note({ image_id: image.id, size_bytes: image.size });
    return { url: image.url, path: image.path, size_bytes: image.size };
  }
}
