import { instant, integer, like, nullable, oneOf, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const RESULT_STATUSES = ['not_started', 'in_progress', 'submitted', 'completed'] as const;
export const RESULT_MODES = ['vce_exam', 'topic_practice', 'sac', 'homework'] as const;

/** Needs organization_results as `o`. */
export const resultView = new View('AssessmentResult', {
  id: uuid('o.result_id'),
  student_id: nullable(uuid('o.student_id')),
  status: like(nullable(oneOf('o.status', RESULT_STATUSES)), 'completed'),
  grade: like(nullable(integer('o.grade', { minimum: 0, maximum: 100 })), 81),
  mode: nullable(oneOf('o.mode', RESULT_MODES)),
  vce_exam_id: nullable(uuid('o.vce_exam_id')),
  curriculum_level_id: like(nullable(uuid('o.curriculum_level_id')), null),
  homework_assignment_id: like(nullable(uuid('o.homework_assignment_id')), null),
  started_at: nullable(instant('o.started_at')),
  completed_at: like(nullable(instant('o.completed_at')), '2026-05-01T11:05:00.000Z'),
});
