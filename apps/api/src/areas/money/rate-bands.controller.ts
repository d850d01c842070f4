import sql from 'sql-template-tag';
import {
  instant, integer, list, listController, nullable, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const RATE_BANDS = list({
  id: 'list_rate_bands',
  path: 'v1/rate-bands',
  summary: 'Lists the bands of students that rates differ by',
  description: 'By `sort_order`, then by name.',
  view: new View('RateBand', {
    id: uuid('b.id'),
    name: nullable(text('b.name', 'Years 11 and 12')),
    sort_order: nullable(integer('b.sort_order', { examples: [1] })),
    created_at: nullable(instant('b.created_at')),
  }),
  source: new Source('rate_bands', 'b'),
  order: sql`b.sort_order, b.name`,
});

export const RATE_BANDS_CONTROLLERS = [listController(RATE_BANDS)];
