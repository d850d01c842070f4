import sql from 'sql-template-tag';
import { RATE_BANDS as KIND } from '@app/billing';
import {
  instant, integer, list, listController, nullable, rows, Source, text, uuid, View,
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

export const RATE_BANDS_CONTROLLERS = [
  listController(RATE_BANDS),
  ...rows({
    path: 'rate-bands/:rate_band_id',
    noun: 'rate band',
    kind: KIND,
    scope: 'settings:write',
    shown: RATE_BANDS,
    fields: { name: { required: true }, sort_order: { default: 0 } },
    examples: { create: { name: 'Years 11 and 12', sort_order: 2 }, change: { sort_order: 1 } },
  }),
];
