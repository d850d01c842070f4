import sql from 'sql-template-tag';
import { list, listController, nullable, Source, text, uuid, View } from '../../http/kit.js';

const SUBJECTS = list({
  id: 'list_subjects',
  path: 'v1/subjects',
  summary: 'Lists the organization’s subjects by name',
  description: 'All of them, up to 1,000. Wherever a subject is asked for, its `id` or its `code` names it.',
  view: new View('Subject', {
    id: uuid('s.id'),
    name: nullable(text('s.name', 'Mathematical Methods')),
    code: text('s.code', 'mathematical_methods'),
  }),
  source: new Source('subjects', 's'),
  order: sql`lower(s.name), s.name`,
  bare: 'data',
});

export const SUBJECTS_CONTROLLERS = [listController(SUBJECTS)];
