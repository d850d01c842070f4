import { QueryBrand, QueryEnum } from '../../http/validation/fields.js';

export class PlaceImage {
  @QueryEnum(['platform', 'org'], { description: 'Whose image; `platform` needs the platform-blog capability.' })
  target?: 'platform' | 'org';

  @QueryBrand({ description: 'Of a platform image, and required there. An organization’s images have none.' })
  brand?: string;
}
