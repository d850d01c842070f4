import { Injectable } from '@nestjs/common';
import { Adjustments } from '@app/billing';
import { Audit, type Caller, type JsonText, Records } from '../../../http/kit.js';
import type { CreateAdjustment } from './adjustments.dto.js';
import { ADJUSTMENTS } from './adjustments.queries.js';

@Injectable()
export class AdjustmentsService {
  constructor(
    private readonly records: Records,
    private readonly adjustments: Adjustments,
    private readonly audit: Audit,
  ) {}

  async create(caller: Caller, body: CreateAdjustment): Promise<JsonText> {
    const { tutor_id: tutorId, period_start: periodStart, period_end: periodEnd, amount_cents: amountCents } = body;
    const adjustment = { tutorId, periodStart, periodEnd, amountCents, note: body.note ?? null };
    return this.written(caller, await this.adjustments.add(caller.organizationId, adjustment));
  }

  async void(caller: Caller, id: string): Promise<JsonText> {
    return this.written(caller, id, await this.adjustments.void(caller.organizationId, id));
  }

  private written(caller: Caller, id: string, changed = true): Promise<JsonText> {
    this.audit.note({ adjustment_id: id }, changed);
    return this.records.written(caller, ADJUSTMENTS, id);
  }
}
