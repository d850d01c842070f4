import sql from 'sql-template-tag';
import {
  instant, integer, list, listController, nullable, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const TUTOR_TIERS = list({
  id: 'list_tutor_tiers',
  path: 'v1/tutor-tiers',
  summary: 'Lists the tiers of tutors that rates differ by',
  description: 'By `sort_order`, then by name.',
  view: new View('TutorTier', {
    id: uuid('t.id'),
    name: nullable(text('t.name', 'Senior tutor')),
    badge_label: nullable(text('t.badge_label', 'Senior')),
    description: nullable(text('t.description', 'Has taught for five years or more.')),
    sort_order: nullable(integer('t.sort_order', { examples: [1] })),
    created_at: nullable(instant('t.created_at')),
  }),
  source: new Source('tutor_tiers', 't'),
  order: sql`t.sort_order, t.name`,
});

export const TUTOR_TIERS_CONTROLLERS = [listController(TUTOR_TIERS)];
