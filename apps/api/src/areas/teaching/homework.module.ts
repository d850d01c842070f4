import { Module } from '@nestjs/common';
import {
  equals, field, HttpModule, instant, jsonb, like, type List, listController, ListQuery, nullable, oneOf, Source, text,
  uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const HOMEWORK_TYPES = ['text', 'exam'] as const;
const HOMEWORK_SCOPES = ['classroom', 'group', 'student'] as const;

export class ListHomework extends ListQuery {
  @field.QueryEnum(HOMEWORK_TYPES, { description: 'Only homework of this type.' })
  homework_type?: string;

  @field.QueryEnum(HOMEWORK_SCOPES, { description: 'Only homework set for a classroom, a group or a student.' })
  scope?: string;

  @field.QueryUuid({ description: 'Only homework assigned to this student.' })
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

@Module({ imports: [HttpModule], controllers: [listController(HOMEWORK)] })
export class HomeworkModule {}
