import { LESSON_PLANS as KIND, LessonPlans } from '@app/teaching';
import { changeOf, listController, rows, writeController } from '../../../http/kit.js';
import { CreateLessonPlan, newPlanBy, UpdateLessonPlan } from './lesson-plans.dto.js';
import { LESSON_PLANS } from './lesson-plans.queries.js';

export const LESSON_PLANS_CONTROLLERS = [
  listController(LESSON_PLANS),
  writeController({
    id: 'create_lesson_plan',
    route: 'POST /v1/lesson-plans',
    scope: 'coursework:write',
    summary: 'Creates a lesson plan',
    description:
      'For the classroom, group or student that its `scope` says. `plan_data` takes any names and values, and is returned ' +
      'as it was sent: names keep their order, except that whole numbers as names come first. Numbers are doubles, as ' +
      'usual in JSON: send those of 2^53 and beyond as text.',
    example: {
      title: 'Quadratics, lesson 3',
      scope: 'student',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      plan_data: { warm_up: 'Times tables, 5 minutes', goals: ['complete the square'] },
    },
    body: CreateLessonPlan,
    rules: [LessonPlans],
    answers: LESSON_PLANS,
    versions: LESSON_PLANS,
    idName: 'lesson_plan_id',
    run: ({ organizationId, body }, plans) => plans.create(organizationId, newPlanBy(body)),
  }),
  writeController({
    id: 'update_lesson_plan',
    route: 'PUT /v1/lesson-plans/:plan_id',
    scope: 'coursework:write',
    summary: 'Changes a lesson plan',
    description: 'Omitted fields stay unchanged. A new `scope` drops the former target, and requires its own.',
    example: { status: 'ready' },
    body: UpdateLessonPlan,
    rules: [LessonPlans],
    answers: LESSON_PLANS,
    versions: LESSON_PLANS,
    idName: 'lesson_plan_id',
    run: ({ organizationId, ids, body }, plans) => plans.change(organizationId, ids.plan_id, changeOf(body)),
  }),
  ...rows({
    path: 'lesson-plans/:plan_id',
    noun: 'lesson plan',
    kind: KIND,
    scope: 'coursework:write',
    shown: LESSON_PLANS,
    fields: {},
    examples: { create: {}, change: {} },
    without: ['create', 'change'],
  }),
];
