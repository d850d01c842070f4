import { Injectable } from '@nestjs/common';
import { LessonPlans } from '@app/teaching';
import { Audit, type Caller, given, type JsonText, Records } from '../../../http/kit.js';
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
    await this.plans.change(caller.organizationId, id, planChangeBy(body));
    this.audit.note({ fields: Object.keys(given(body)) });
    return this.written(caller, id);
  }

  private written(caller: Caller, id: string): Promise<JsonText> {
    this.audit.note({ lesson_plan_id: id });
    return this.records.written(caller, LESSON_PLANS, id);
  }
}
