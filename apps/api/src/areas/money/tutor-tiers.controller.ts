import sql from 'sql-template-tag';
import { TUTOR_TIERS as KIND } from '@app/billing';
import {
  instant, integer, list, listController, nullable, rows, Source, text, uuid, View,
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

export const TUTOR_TIERS_CONTROLLERS = [
  listController(TUTOR_TIERS),
  ...rows({
    path: 'tutor-tiers/:tutor_tier_id',
    noun: 'tutor tier',
    kind: KIND,
    scope: 'settings:write',
    shown: TUTOR_TIERS,
    fields: {
      name: { required: true },
      badge_label: { nullable: true, description: 'What is shown beside the tutor’s name.' },
      description: { nullable: true },
      sort_order: { default: 0 },
    },
    examples: {
      create: { name: 'Senior tutor', badge_label: 'Senior', description: 'Has taught for five years or more.' },
      change: { badge_label: 'Senior', sort_order: 1 },
    },
  }),
];
