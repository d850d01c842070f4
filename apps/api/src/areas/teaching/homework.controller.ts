import { VALUES } from '@app/database';
import { FIELDS, listOf } from '@app/fields';
import { HOMEWORK as KIND, Homework } from '@app/teaching';
import {
  byId, byValue, field, instant, jsonb, kinds, like, list, listController, nullable, object, oneOf, rows, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const MOST_FILES = FIELDS.homework.files.schema.maxItems as number;

class HomeworkFile {
  @field.bodyField(FIELDS.files.title, { required: true })
  name: string;

  @field.bodyField(FIELDS.files.link_url, { required: true, description: 'Where it is: nothing is uploaded.' })
  url: string;
}

export const HOMEWORK = list({
  id: 'list_homework',
  path: 'v1/homework',
  summary: 'Lists homework, newest first',
  description:
    'An assignment belongs to the organization derived when it was set: that of its classroom, otherwise of ' +
    'its group, otherwise of the tutor-student relation, otherwise the only organization of its author.',
  view: new View('Homework', {
    id: uuid('h.id'),
    assigned_by: nullable(uuid('h.assigned_by')),
    title: nullable(text('h.title', 'Quadratics, exercises 1 to 12')),
    description: nullable(text('h.description', 'Show all working and circle anything you were unsure of.')),
    homework_type: nullable(oneOf('h.homework_type', VALUES.homework.homework_type)),
    scope: nullable(oneOf('h.scope', VALUES.homework.scope)),
    classroom_id: nullable(uuid('h.classroom_id')),
    group_id: like(nullable(uuid('h.group_id')), null),
    student_id: like(nullable(uuid('h.student_id')), null),
    due_date: like(nullable(instant('h.due_date')), '2026-05-08T06:00:00.000Z'),
    files: jsonb('h.files', { type: 'array', items: {}, examples: [[]] }),
    created_at: nullable(instant('h.created_at')),
  }),
  source: new Source('homework', 'h'),
  parameters: [
    byValue('homework_type', VALUES.homework.homework_type, 'Only homework of this type.'),
    byValue('scope', VALUES.homework.scope, 'Only homework set for a classroom, a group or a student.'),
    byId('student_id', 'Only homework assigned to this student.'),
  ],
});

export const HOMEWORK_CONTROLLERS = [
  listController(HOMEWORK),
  ...rows({
    path: 'homework/:homework_id',
    noun: 'homework assignment',
    kind: KIND,
    rule: Homework,
    conflicts: ['still_referenced'],
    scope: 'coursework:write',
    shown: HOMEWORK,
    fields: {
      title: { required: true },
      homework_type: { required: true, kind: kinds.oneOf(VALUES.homework.homework_type) },
      scope: {
        required: true,
        kind: kinds.oneOf(VALUES.homework.scope),
        description: 'Requires the id of its kind, and no other.',
      },
      classroom_id: { nullable: true, description: 'With the scope `classroom`.' },
      group_id: { nullable: true, description: 'With the scope `group`.' },
      student_id: { nullable: true, description: 'With the scope `student`: an accepted student.' },
      assigned_by: {
        nullable: true,
        fixed: true,
        description: 'An accepted tutor, admin or owner. The first owner, if it is left out.',
      },
      description: { nullable: true },
      due_date: { nullable: true, kind: kinds.instant },
      files: {
        default: [],
        kind: listOf(object(HomeworkFile), { max: MOST_FILES }),
        description: 'References to files.',
      },
    },
    examples: {
      create: {
        title: 'Quadratics, exercises 1 to 12',
        homework_type: 'text',
        scope: 'classroom',
        classroom_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        due_date: '2026-05-08T06:00:00.000Z',
      },
      change: { title: 'Quadratics, exercises 1 to 10' },
    },
    notes: {
      create:
        'For the classroom, group or student that its `scope` says. What is set for a student by somebody who belongs to several ' +
        'organizations needs a relation of the two in this one.',
      change:
        'A new `scope` drops the former target, and requires its own. The author stays. Once there are results for it, whom it is for stays as ' +
        'well: 409 `still_referenced`.',
    },
  }),
];
