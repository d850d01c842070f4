import { instant, json, like, nullable, oneOf, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const HOMEWORK_TYPES = ['text', 'exam'] as const;
export const HOMEWORK_SCOPES = ['classroom', 'group', 'student'] as const;

/** JSON without the blanks that PostgreSQL puts after colons and commas; blanks within strings stay. */
const FILES = String.raw`regexp_replace(h.files::text, '("(?:[^"\\]|\\.)*")|([:,]) ', '\1\2', 'g')::json`;

export const homeworkView = new View('Homework', {
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
  files: json(FILES, { type: 'array', items: {}, examples: [[]] }),
  created_at: nullable(instant('h.created_at')),
});
