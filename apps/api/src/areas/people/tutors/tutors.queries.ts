import sql from 'sql-template-tag';
import { type Counter, IS_STAFF } from '@app/database';
import { byFlag, list, Source } from '../../../http/kit.js';
import { BY_PERSON, isFiltered } from '../people.view.js';
import { tutorView } from '../tutor.view.js';

const PUBLISHED: Counter[] = ['tutor_profiles:published'];

/** The organization's staff: owners, admins and tutors. Without a tutor profile they count as unpublished. */
export const STAFF = list({
  id: 'list_tutors',
  path: 'v1/tutors',
  summary: 'Lists the organization’s staff, newest first',
  description:
    'Owners, admins and tutors, with or without a tutor profile; those without one are not published. ' +
    '`subjects` are names, `tutor_subjects` are ids.',
  view: tutorView(),
  source: new Source('members', 'm', {
    id: 'user_id',
    joins: sql`LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
    LEFT JOIN users u ON u.id = m.user_id`,
  }),
  where: sql`m.${IS_STAFF}`,
  parameters: [
    byFlag('is_published', 'Only staff with a published profile, or only those without one.', 'profile_published'),
    ...BY_PERSON,
  ],
  total: ['members:owner', 'members:admin', 'members:tutor'],
  select: ({ is_published, ...others }) => ({
    counted: isFiltered(others),
    ...(is_published === true && { total: PUBLISHED }),
    ...(is_published === false && { totalWithout: PUBLISHED }),
  }),
});
