import sql from 'sql-template-tag';
import { type List, Source } from '../../../http/kit.js';
import { studentView } from './students.view.js';

export const STUDENTS: List = {
  id: 'list_students',
  path: 'v1/students',
  summary: 'Lists the organization’s students, newest first',
  description: 'Students with any `status`. A `pending` student shows only what the organization supplied.',
  view: studentView,
  source: new Source('members', 'm', { id: 'user_id', joins: sql`LEFT JOIN users u ON u.id = m.user_id` }),
  total: ['members:student'],
  select: () => ({ filters: [sql`m.role = 'student'`] }),
};
