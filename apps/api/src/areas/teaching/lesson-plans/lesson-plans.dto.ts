import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { type NewPlan, targetFaults } from '@app/teaching';
import { Fault, field, inputOf, type Interdependent, TOGETHER } from '../../../http/kit.js';

const { status, scope } = VALUES.lesson_plans;

class PlanFields {
  @field.Uuid({ nullable: true, description: 'With the scope `classroom`.' })
  classroom_id?: string | null;

  @field.Uuid({ nullable: true, description: 'With the scope `group`.' })
  group_id?: string | null;

  @field.Uuid({ nullable: true, description: 'With the scope `student`: an accepted student.' })
  student_id?: string | null;

  @field.Uuid({ nullable: true, description: 'The session that the plan is for.' })
  session_id?: string | null;

  @field.Instant({ nullable: true })
  scheduled_for?: Date | null;
}

export class CreateLessonPlan extends PlanFields implements Interdependent {
  @field.bodyField(FIELDS.lesson_plans.title, { required: true })
  title: string;

  @field.OneOf(scope, { required: true, description: 'Requires the id of its kind, and no other.' })
  scope: NewPlan['scope'];

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner. The first owner, if it is left out.' })
  created_by?: string | null;

  @field.bodyField(FIELDS.lesson_plans.plan_data, {
    nullable: true,
    description: 'Any names and values, at most 256 kB as JSON.',
  })
  plan_data?: Record<string, unknown> | null;

  @field.OneOf(status, { default: 'draft' })
  status: NewPlan['status'] = 'draft';

  [TOGETHER](): Fault[] {
    if (!scope.includes(this.scope)) return [];
    return targetFaults(newPlanBy(this)).map(({ at, reason }) => new Fault('value_error', reason, at));
  }
}

/** Omitted fields stay unchanged. */
export class UpdateLessonPlan extends PlanFields {
  @field.bodyField(FIELDS.lesson_plans.title)
  title?: string;

  @field.OneOf(scope, { description: 'Requires the id of its kind, and no other.' })
  scope?: NewPlan['scope'];

  @field.bodyField(FIELDS.lesson_plans.plan_data, {
    description: 'Replaces all of it: any names and values, at most 256 kB as JSON.',
  })
  plan_data?: Record<string, unknown>;

  @field.OneOf(status)
  status?: NewPlan['status'];
}

export const newPlanBy = (body: CreateLessonPlan): NewPlan => ({ ...inputOf(body), planData: body.plan_data ?? {} });
