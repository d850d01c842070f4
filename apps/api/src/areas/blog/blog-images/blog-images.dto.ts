import { FIELDS } from '@app/fields';
import { Fault, field, type Interdependent, kinds, TOGETHER } from '../../../http/kit.js';

export class PlaceImage implements Interdependent {
  @field.Query(kinds.oneOf(['platform', 'org']), {
    description: 'Who owns the image. `platform` requires the platform-blog capability.',
    default: 'org',
  })
  target: 'platform' | 'org' = 'org';

  @field.Query(FIELDS.blog_posts.brand, {
    description: 'Required for a platform image; not allowed for an organization’s image.',
  })
  brand?: string;

  [TOGETHER](): Fault[] {
    if (this.target === 'org' && this.brand !== undefined) {
      return [new Fault('extra_forbidden', 'Leave this out: images of an organization have no brand.', ['brand'])];
    }
    const missing = this.target === 'platform' && this.brand === undefined;
    return missing ? [new Fault('missing', 'Required for images of the platform.', ['brand'])] : [];
  }
}
