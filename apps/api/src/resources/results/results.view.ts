import { instant, integer, nullable, oneOf, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const RESULT_STATUSES = ['not_started', 'in_progress', 'submitted', 'completed'] as const;
export const RESULT_MODES = ['vce_exam', 'topic_practice', 'sac', 'homework'] as const;

export const resultView = new View('Result', {
  id: uuid('r.id'),
  student_id: nullable(uuid('r.student_id')),
  status: nullable(oneOf('r.status', RESULT_STATUSES)),
  grade: nullable(integer('r.grade', { minimum: 0, maximum: 100 })),
  mode: nullable(oneOf('r.mode', RESULT_MODES)),
  vce_exam_id: nullable(uuid('r.vce_exam_id')),
  curriculum_level_id: nullable(uuid('r.curriculum_level_id')),
  homework_assignment_id: nullable(uuid('r.homework_assignment_id')),
  started_at: nullable(instant('r.started_at')),
  completed_at: nullable(instant('r.completed_at')),
});
