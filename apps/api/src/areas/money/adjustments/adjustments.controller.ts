import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateAdjustment } from './adjustments.dto.js';
import { ADJUSTMENTS } from './adjustments.queries.js';
import { AdjustmentsService } from './adjustments.service.js';

@Controller('v1/adjustments')
export class AdjustmentsController {
  constructor(private readonly adjustments: AdjustmentsService) {}

  @Post()
  @RequireScopes('payroll:write')
  @Documented({
    id: 'create_adjustment',
    summary: 'Adds a payroll adjustment',
    description: 'It counts as earned on the first day of its period. A wrong one is voided.',
    answer: one(ADJUSTMENTS.view),
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      period_start: '2026-04-13',
      period_end: '2026-04-26',
      amount_cents: -2500,
      note: 'Overpaid in the last run',
    },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateAdjustment) body: CreateAdjustment) {
    return this.adjustments.create(caller, body);
  }

  @Post(':adjustment_id/void', 200)
  @RequireScopes('payroll:write')
  @Documented({
    id: 'void_adjustment',
    summary: 'Voids a payroll adjustment',
    description: 'It no longer counts as earned, and only `include_voided` lists it. Again: unchanged.',
    answer: one(ADJUSTMENTS.view),
  })
  void(@CurrentCaller() caller: Caller, @PathId('adjustment_id') id: string) {
    return this.adjustments.void(caller, id);
  }
}
