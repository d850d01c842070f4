import sql from 'sql-template-tag';
import { VALUES } from '@app/database';
import { SUBJECTS as KIND } from '@app/teaching';
import {
  flag,
  kinds,
  like,
  list,
  listController,
  nullable,
  oneOf,
  rows,
  Source,
  text,
  toggle,
  uuid,
  View,
} from '../../http/kit.js';

const SUBJECTS = list({
  id: 'list_subjects',
  path: 'v1/subjects',
  summary: 'Lists the organization’s subjects by name',
  description:
    'All of them: an organization has at most 1,000, archived ones included. Wherever a subject is asked for, its `id` or its `code` names it.',
  view: new View('Subject', {
    id: uuid('s.id'),
    name: nullable(text('s.name', 'Mathematical Methods')),
    code: nullable(text('s.code', 'mathematical_methods')),
    tax: like(nullable(oneOf('s.tax', VALUES.subjects.tax)), null),
    is_archived: nullable(flag('s.is_archived')),
  }),
  source: new Source('subjects', 's'),
  parameters: [toggle('include_archived', 'Also list archived subjects.', { without: 'is_archived' })],
  order: sql`lower(s.name), s.name`,
  bare: 'data',
});

export const SUBJECTS_CONTROLLERS = [
  listController(SUBJECTS),
  ...rows({
    path: 'subjects/:subject_id',
    noun: 'subject',
    kind: KIND,
    scope: 'settings:write',
    shown: SUBJECTS,
    fields: {
      name: { required: true },
      code: {
        fixed: true,
        nullable: true,
        description:
          'Made from the Latin letters and digits of the name if it is left out, or else `subject`, with a number if that is taken. It stays when the name changes.',
      },
      tax: {
        kind: kinds.oneOf(VALUES.subjects.tax),
        nullable: true,
        description: 'Of lessons in it. Null: as the organization says (`line_tax`).',
      },
      is_archived: { kind: kinds.boolean, default: false },
    },
    examples: { create: { name: 'Mathematical Methods', code: 'methods' }, change: { name: 'Methods' } },
    notes: {
      change: 'Whatever names an archived subject keeps it; anything else cannot name it any more, and gets 404.',
      remove: 'Archive a subject that has been taught.',
    },
  }),
];
