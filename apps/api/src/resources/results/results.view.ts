import { instant, integer, nullable, oneOf, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const RESULT_STATUSES = ['not_started', 'in_progress', 'submitted', 'completed'] as const;
export const RESULT_MODES = ['vce_exam', 'topic_practice', 'sac', 'homework'] as const;

/** Needs organization_results as `o`. */
export const resultView = new View('Result', {
  id: uuid('o.result_id'),
  student_id: nullable(uuid('o.student_id')),
  status: nullable(oneOf('o.status', RESULT_STATUSES)),
  grade: nullable(integer('o.grade', { minimum: 0, maximum: 100 })),
  mode: nullable(oneOf('o.mode', RESULT_MODES)),
  vce_exam_id: nullable(uuid('o.vce_exam_id')),
  curriculum_level_id: nullable(uuid('o.curriculum_level_id')),
  homework_assignment_id: nullable(uuid('o.homework_assignment_id')),
  started_at: nullable(instant('o.started_at')),
  completed_at: nullable(instant('o.completed_at')),
});
