import { MOST_OFFSET } from '../../http/lists/list-query.dto.js';
import { QueryBrand, QueryEnum, QueryInteger } from '../../http/validation/fields.js';
import { POST_STATUSES, POST_TARGETS } from './blog.view.js';

export class ListPosts {
  @QueryBrand({ description: 'Only posts of this brand, one of the deployment’s two.' })
  brand?: string;

  @QueryEnum(POST_STATUSES, { description: 'Only drafts, or only published posts.' })
  status?: string;

  @QueryEnum(POST_TARGETS, { description: 'Only the organization’s own posts, or only the platform’s.' })
  target?: 'platform' | 'org';

  @QueryInteger({ description: 'Page size.', min: 1, max: 200, default: 50 })
  limit: number = 50;

  @QueryInteger({ description: 'Posts to skip.', min: 0, max: MOST_OFFSET, default: 0 })
  offset: number = 0;
}
