import { Injectable } from '@nestjs/common';
import { LessonPlans } from '@app/teaching';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import { type CreateLessonPlan, newPlanBy, planChangeBy, type UpdateLessonPlan } from './lesson-plans.dto.js';
import { LESSON_PLANS } from './lesson-plans.queries.js';

@Injectable()
export class LessonPlansService {
  constructor(
    private readonly records: Records,
    private readonly plans: LessonPlans,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateLessonPlan): Promise<JsonText> {
    return this.written(caller, await this.plans.create(caller.organizationId, newPlanBy(body)));
  }

  async update(caller: Caller, id: string, body: UpdateLessonPlan): Promise<JsonText> {
    const changed = await this.plans.change(caller.organizationId, id, planChangeBy(body));
    return this.written(caller, id, changed);
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ lesson_plan_id: id }, changed);
    return this.records.written(caller, LESSON_PLANS, id);
  }
}
