import { Module } from '@nestjs/common';
import {
  equals, field, HttpModule, instant, integer, like, type List, listController, nullable, oneOf, rangeQuery, since,
  Source, until, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const RESULT_STATUSES = ['not_started', 'in_progress', 'submitted', 'completed'] as const;
const RESULT_MODES = ['vce_exam', 'topic_practice', 'sac', 'homework'] as const;

const Between = rangeQuery({
  from: 'Completed at or after this ISO 8601 date or date-time.',
  to: 'Completed at or before this ISO 8601 date or date-time; a date includes the whole day.',
});

export class ListResults extends Between {
  @field.QueryUuid({ description: 'Only results of this student.' })
  student_id?: string;

  @field.QueryEnum(RESULT_STATUSES, { description: 'Only results in this state.' })
  status?: string;

  @field.QueryEnum(RESULT_MODES, { description: 'Only results of this mode.' })
  mode?: string;
}

/**
 * Results of students who have a session in the organization. organization_results lists them, with a copy of the
 * fields shown.
 */
export const RESULTS: List<ListResults> = {
  id: 'list_results',
  path: 'v1/results',
  query: ListResults,
  summary: 'Lists assessment results, newest first',
  description: 'Results of the organization’s students: those with a session in the organization.',
  view: new View('AssessmentResult', {
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
  }),
  source: new Source('organization_results', 'o', { id: 'result_id' }),
  select: ({ student_id, status, mode, from, to }) => ({
    filters: [
      equals('student_id', student_id),
      equals('status', status),
      equals('mode', mode),
      since('completed_at', from),
      until('completed_at', to),
    ],
  }),
};

@Module({ imports: [HttpModule], controllers: [listController(RESULTS)] })
export class ResultsModule {}
