import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { DocumentedList } from '../../http/openapi/operation.decorator.js';
import { ADJUSTMENTS, ListAdjustments } from './adjustments.queries.js';

@Controller('v1/adjustments')
export class AdjustmentsController {
  constructor(private readonly lists: Lists) {}

  @Get()
  @RequireScopes('read')
  @DocumentedList(ADJUSTMENTS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListAdjustments) {
    return this.lists.page(caller, ADJUSTMENTS, query);
  }
}
