import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListAdjustments } from './adjustments.dto.js';
import { AdjustmentsService } from './adjustments.service.js';
import { adjustmentView } from './adjustments.view.js';

@Controller('v1/adjustments')
export class AdjustmentsController {
  constructor(private readonly payroll: AdjustmentsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_adjustments',
    summary: 'Lists payroll adjustments, newest first',
    description: 'Manual credits and debits that are folded into payroll; a negative amount is a deduction.',
    answer: page(adjustmentView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListAdjustments) {
    return this.payroll.listAdjustments(caller, query);
  }
}
