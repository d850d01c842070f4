import { VALUES } from '@app/database';
import { RESULTS as KIND, Results } from '@app/teaching';
import {
  between, byId, byValue, instant, integer, kinds, like, list, listController, nullable, oneOf, rows,
  Source, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const { status, mode } = VALUES.results;

function result(id: string) {
  return new View('AssessmentResult', {
    id: uuid(id),
    student_id: nullable(uuid('o.student_id')),
    status: like(nullable(oneOf('o.status', status)), 'completed'),
    grade: like(nullable(integer('o.grade', { minimum: 0, maximum: 100 })), 81),
    mode: nullable(oneOf('o.mode', mode)),
    vce_exam_id: nullable(uuid('o.vce_exam_id')),
    curriculum_level_id: like(nullable(uuid('o.curriculum_level_id')), null),
    homework_assignment_id: like(nullable(uuid('o.homework_assignment_id')), null),
    started_at: nullable(instant('o.started_at')),
    completed_at: like(nullable(instant('o.completed_at')), '2026-05-01T11:05:00.000Z'),
  });
}

/**
 * Results of students who have a session in the organization. organization_results lists them, with a copy of the
 * fields shown.
 */
const RESULTS = list({
  id: 'list_results',
  path: 'v1/results',
  summary: 'Lists assessment results, newest first',
  description: 'Results of the organization’s students: those with a session in the organization.',
  view: result('o.result_id'),
  source: new Source('organization_results', 'o', { id: 'result_id' }),
  parameters: [
    byId('student_id', 'Only results of this student.'),
    byValue('status', status, 'Only results in this state.'),
    byValue('mode', mode, 'Only results of this mode.'),
    ...between('completed_at', {
      from: 'Completed at or after this ISO 8601 date or date-time.',
      to: 'Completed at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

/** Those that the organization made. */
const MADE_HERE = { view: result('o.id'), source: new Source('results', 'o', { tenant: KIND.owner }) };

export const RESULTS_CONTROLLERS = [
  listController(RESULTS),
  ...rows({
    path: 'results/:result_id',
    noun: 'result',
    kind: KIND,
    rule: Results,
    conflicts: ['invalid_state'],
    scope: 'coursework:write',
    shown: RESULTS,
    own: MADE_HERE,
    fields: {
      student_id: {
        required: true,
        fixed: true,
        description: 'An accepted student with a session in the organization.',
      },
      mode: { required: true, fixed: true, kind: kinds.oneOf(mode) },
      status: { default: 'not_started', kind: kinds.oneOf(status) },
      grade: { nullable: true, description: 'With `completed` only.' },
      vce_exam_id: { nullable: true, kind: kinds.uuid, description: 'An exam of your own system: any id.' },
      curriculum_level_id: { nullable: true, kind: kinds.uuid, description: 'A level of your own curriculum: any id.' },
      homework_assignment_id: {
        nullable: true,
        fixed: true,
        description:
          'The homework of which it is the attempt, with the mode `homework`: set for the student, and once for each.',
      },
      started_at: {
        nullable: true,
        kind: kinds.instant,
        description: 'Now, when it becomes `in_progress`, if it is left out.',
      },
      completed_at: {
        nullable: true,
        kind: kinds.instant,
        description: 'Now, when it becomes `completed`, if it is left out.',
      },
    },
    examples: {
      create: {
        student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        mode: 'homework',
        homework_assignment_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31',
        status: 'in_progress',
      },
      change: { status: 'submitted' },
    },
    notes: {
      create:
        'In any state. Whoever sees the student’s results sees it; only the organization that made it changes it.',
      change:
        'From `not_started` to `in_progress`, `submitted` and `completed`, one after the other. A result that another organization ' +
        'made is a 404.',
    },
    without: ['remove'],
  }),
];
