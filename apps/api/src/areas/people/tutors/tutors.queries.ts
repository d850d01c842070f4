import sql from 'sql-template-tag';
import type { Counter } from '@app/database';
import { equals, type List, Source } from '../../../http/kit.js';
import { ListTutors } from './tutors.dto.js';
import { tutorView } from './tutors.view.js';

const COUNTED: Counter[] = ['members:owner', 'members:admin', 'members:tutor'];
const PUBLISHED: Counter[] = ['tutor_profiles:published'];

/** The organization's staff: owners, admins and tutors. Without a tutor profile they count as unpublished. */
export const STAFF: List<ListTutors> = {
  id: 'list_tutors',
  path: 'v1/tutors',
  query: ListTutors,
  summary: 'Lists the organization’s staff, newest first',
  description:
    'Owners, admins and tutors, with or without a tutor profile; those without one are not published. ' +
    '`subjects` are names, `tutor_subjects` are ids.',
  view: tutorView,
  source: new Source('members', 'm', {
    id: 'user_id',
    joins: sql`LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
    LEFT JOIN users u ON u.id = m.user_id`,
  }),
  total: COUNTED,
  select: ({ is_published }) => ({
    filters: [sql`m.role <> 'student'`, equals('profile_published', is_published)],
    ...(is_published === true && { total: PUBLISHED }),
    ...(is_published === false && { totalWithout: PUBLISHED }),
  }),
};
