import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { ADJUSTMENTS, ListAdjustments } from './adjustments.queries.js';

@Controller('v1/adjustments')
export class AdjustmentsController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(ADJUSTMENTS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListAdjustments) {
    return this.lists.page(caller, ADJUSTMENTS, query);
  }
}
