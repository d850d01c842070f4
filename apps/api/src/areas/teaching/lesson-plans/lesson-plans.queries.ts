import { VALUES } from '@app/database';
import {
  byId, byValue, instant, json, like, list, nullable, oneOf, Source, text, texts, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { status, scope } = VALUES.lesson_plans;
const PLAN_DATA = { type: 'object', additionalProperties: true, examples: [{ warm_up: 'Times tables, 5 minutes' }] };

export const LESSON_PLANS = list({
  id: 'list_lesson_plans',
  path: 'v1/lesson-plans',
  summary: 'Lists lesson plans, newest first',
  description: 'A plan is for a classroom, a group or a student, as its `scope` says.',
  view: new View('LessonPlan', {
    id: uuid('p.id'),
    created_by: nullable(uuid('p.created_by')),
    scope: like(nullable(oneOf('p.scope', scope)), 'student'),
    classroom_id: like(nullable(uuid('p.classroom_id')), null),
    group_id: like(nullable(uuid('p.group_id')), null),
    student_id: nullable(uuid('p.student_id')),
    session_id: like(nullable(uuid('p.session_id')), null),
    math_level_id: like(nullable(uuid('p.math_level_id')), null),
    curriculum_level_ids: texts('p.curriculum_level_ids', UUID),
    title: nullable(text('p.title', 'Quadratics, lesson 3')),
    status: nullable(oneOf('p.status', status)),
    plan_data: json('p.plan_data', PLAN_DATA),
    scheduled_for: nullable(instant('p.scheduled_for')),
    created_at: nullable(instant('p.created_at')),
    updated_at: nullable(instant('p.updated_at')),
  }),
  source: new Source('lesson_plans', 'p'),
  parameters: [
    byValue('status', status, 'Only plans in this state.'),
    byValue('scope', scope, 'Only plans for a classroom, a group or a student.'),
    byId('student_id', 'Only plans for this student.'),
  ],
});
