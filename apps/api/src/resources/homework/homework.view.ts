import { instant, json, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const HOMEWORK_TYPES = ['text', 'exam'] as const;
export const HOMEWORK_SCOPES = ['classroom', 'group', 'student'] as const;

export const homeworkView = new View('Homework', {
  id: uuid('h.id'),
  assigned_by: nullable(uuid('h.assigned_by')),
  title: nullable(text('h.title', 'Quadratics, exercises 1 to 12')),
  description: nullable(text('h.description')),
  homework_type: nullable(oneOf('h.homework_type', HOMEWORK_TYPES)),
  scope: nullable(oneOf('h.scope', HOMEWORK_SCOPES)),
  classroom_id: nullable(uuid('h.classroom_id')),
  group_id: nullable(uuid('h.group_id')),
  student_id: nullable(uuid('h.student_id')),
  due_date: nullable(instant('h.due_date')),
  files: json('h.files', { type: 'array', items: {}, examples: [[]] }),
  created_at: nullable(instant('h.created_at')),
});
