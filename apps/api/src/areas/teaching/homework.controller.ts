import { VALUES } from '@app/database';
import {
  byId, byValue, instant, jsonb, like, list, listController, nullable, oneOf, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

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

export const HOMEWORK_CONTROLLERS = [listController(HOMEWORK)];
