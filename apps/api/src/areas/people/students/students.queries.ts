import sql from 'sql-template-tag';
import { instant, like, list, nullable, Source, texts, UUID, uuid, View } from '../../../http/kit.js';
import { BY_PERSON, isFiltered, person } from '../people.view.js';

const { first_name, last_name, email, placeholder_email, status } = person('m');

const PARENTS = `ARRAY(SELECT s.parent_id FROM parent_students s WHERE s.organization_id = m.organization_id
  AND s.student_id = m.user_id ORDER BY s.linked_at, s.parent_id)`;

const studentView = new View('Student', {
  id: uuid('m.user_id'),
  first_name,
  last_name,
  email,
  placeholder_email,
  status,
  parent_ids: texts(PARENTS, UUID),
  rate_band_id: like(nullable(uuid('m.rate_band_id')), null),
  created_at: nullable(instant('m.created_at')),
});

export const STUDENTS = list({
  id: 'list_students',
  path: 'v1/students',
  summary: 'Lists the organization’s students, newest first',
  description: 'Students with any `status`. A `pending` student shows only what the organization supplied.',
  view: studentView,
  source: new Source('members', 'm', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = m.user_id` }),
  where: sql`m.role = 'student'`,
  parameters: BY_PERSON,
  total: ['members:student'],
  select: (query) => ({ counted: isFiltered(query) }),
});
