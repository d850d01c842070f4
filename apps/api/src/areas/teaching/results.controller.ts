import { VALUES } from '@app/database';
import {
  between, byId, byValue, instant, integer, like, list, listController, nullable, oneOf, recordController,
  Source, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

/**
 * Results of students who have a session in the organization. organization_results lists them, with a copy of the
 * fields shown.
 */
const RESULTS = list({
  id: 'list_results',
  path: 'v1/results',
  summary: 'Lists assessment results, newest first',
  description: 'Results of the organization’s students: those with a session in the organization.',
  view: new View('AssessmentResult', {
    id: uuid('o.result_id'),
    student_id: nullable(uuid('o.student_id')),
    status: like(nullable(oneOf('o.status', VALUES.results.status)), 'completed'),
    grade: like(nullable(integer('o.grade', { minimum: 0, maximum: 100 })), 81),
    mode: nullable(oneOf('o.mode', VALUES.results.mode)),
    vce_exam_id: nullable(uuid('o.vce_exam_id')),
    curriculum_level_id: like(nullable(uuid('o.curriculum_level_id')), null),
    homework_assignment_id: like(nullable(uuid('o.homework_assignment_id')), null),
    started_at: nullable(instant('o.started_at')),
    completed_at: like(nullable(instant('o.completed_at')), '2026-05-01T11:05:00.000Z'),
  }),
  source: new Source('organization_results', 'o', { id: 'result_id' }),
  parameters: [
    byId('student_id', 'Only results of this student.'),
    byValue('status', VALUES.results.status, 'Only results in this state.'),
    byValue('mode', VALUES.results.mode, 'Only results of this mode.'),
    ...between('completed_at', {
      from: 'Completed at or after this ISO 8601 date or date-time.',
      to: 'Completed at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

const RESULT = recordController({
  ...RESULTS,
  id: 'get_result',
  path: 'v1/results/:result_id',
  summary: 'Returns one assessment result',
});

export const RESULTS_CONTROLLERS = [listController(RESULTS), RESULT];
