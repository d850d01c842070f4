import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, Put, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateLessonPlan, UpdateLessonPlan } from './lesson-plans.dto.js';
import { LESSON_PLANS } from './lesson-plans.queries.js';
import { LessonPlansService } from './lesson-plans.service.js';

@Controller('v1/lesson-plans')
export class LessonPlansController {
  constructor(private readonly plans: LessonPlansService) {}

  @Post()
  @RequireScopes('coursework:write')
  @Documented({
    id: 'create_lesson_plan',
    summary: 'Creates a lesson plan',
    description:
      'For the classroom, group or student that its `scope` says. `plan_data` takes any names and values, and is returned ' +
      'as it was sent: names keep their order, except that whole numbers as names come first. Numbers are doubles, as ' +
      'usual in JSON: send those of 2^53 and beyond as text.',
    answer: one(LESSON_PLANS.view),
    example: {
      title: 'Quadratics, lesson 3',
      scope: 'student',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      plan_data: { warm_up: 'Times tables, 5 minutes', goals: ['complete the square'] },
    },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateLessonPlan) body: CreateLessonPlan) {
    return this.plans.create(caller, body);
  }

  @Put(':plan_id')
  @RequireScopes('coursework:write')
  @Documented({
    id: 'update_lesson_plan',
    summary: 'Changes a lesson plan',
    description: 'Omitted fields stay unchanged. A new `scope` drops the former target, and requires its own.',
    answer: one(LESSON_PLANS.view),
    example: { status: 'ready' },
  })
  update(
    @CurrentCaller() caller: Caller,
    @PathId('plan_id') id: string,
    @ValidBody(UpdateLessonPlan) body: UpdateLessonPlan,
  ) {
    return this.plans.update(caller, id, body);
  }
}
