import { QueryBrand } from '../../blog/brand.js';
import { Fault } from '../../http/validation/fault.js';
import { QueryEnum } from '../../http/validation/fields.js';
import { type Interdependent, TOGETHER } from '../../http/validation/read-object.js';

export class PlaceImage implements Interdependent {
  @QueryEnum(['platform', 'org'], {
    description: 'Whose image; `platform` needs the platform-blog capability.',
    default: 'org',
  })
  target: 'platform' | 'org' = 'org';

  @QueryBrand({ description: 'Of a platform image, and required there; refused for an organization’s.' })
  brand?: string;

  [TOGETHER](): Fault[] {
    if (this.target === 'org' && this.brand !== undefined) {
      return [new Fault('extra_forbidden', 'Leave this out: an organization’s images have no brand.', ['brand'])];
    }
    const missing = this.target === 'platform' && this.brand === undefined;
    return missing ? [new Fault('missing', 'Images of the platform need a brand.', ['brand'])] : [];
  }
}
