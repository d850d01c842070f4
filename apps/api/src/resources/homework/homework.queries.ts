import { equals } from '../../http/lists/filters.js';
import { ListQuery } from '../../http/lists/list-query.dto.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import { QueryEnum, QueryUuid } from '../../http/validation/fields.js';
import { instant, jsonb, like, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

const HOMEWORK_TYPES = ['text', 'exam'] as const;
const HOMEWORK_SCOPES = ['classroom', 'group', 'student'] as const;

export class ListHomework extends ListQuery {
  @QueryEnum(HOMEWORK_TYPES, { description: 'Only homework of this type.' })
  homework_type?: string;

  @QueryEnum(HOMEWORK_SCOPES, { description: 'Only homework set for a classroom, a group or a student.' })
  scope?: string;

  @QueryUuid({ description: 'Only homework assigned to this student.' })
  student_id?: string;
}

export const HOMEWORK: List<ListHomework> = {
  id: 'list_homework',
  path: 'v1/homework',
  query: ListHomework,
  summary: 'Lists homework, newest first',
  description:
    'An assignment belongs to the organization derived when it was set: that of its classroom, otherwise of ' +
    'its group, otherwise of the tutor-student relation, otherwise the only organization of its author.',
  view: new View('Homework', {
    id: uuid('h.id'),
    assigned_by: nullable(uuid('h.assigned_by')),
    title: nullable(text('h.title', 'Quadratics, exercises 1 to 12')),
    description: nullable(text('h.description', 'Show all working and circle anything you were unsure of.')),
    homework_type: nullable(oneOf('h.homework_type', HOMEWORK_TYPES)),
    scope: nullable(oneOf('h.scope', HOMEWORK_SCOPES)),
    classroom_id: nullable(uuid('h.classroom_id')),
    group_id: like(nullable(uuid('h.group_id')), null),
    student_id: like(nullable(uuid('h.student_id')), null),
    due_date: like(nullable(instant('h.due_date')), '2026-05-08T06:00:00.000Z'),
    files: jsonb('h.files', { type: 'array', items: {}, examples: [[]] }),
    created_at: nullable(instant('h.created_at')),
  }),
  source: new Source('homework', 'h'),
  select: ({ homework_type, scope, student_id }) => ({
    filters: [equals('homework_type', homework_type), equals('scope', scope), equals('student_id', student_id)],
  }),
};
