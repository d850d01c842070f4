import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { DocumentedList } from '../../http/openapi/operation.decorator.js';
import { ListResults, RESULTS } from './results.queries.js';

@Controller('v1/results')
export class ResultsController {
  constructor(private readonly lists: Lists) {}

  @Get()
  @RequireScopes('read')
  @DocumentedList(RESULTS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListResults) {
    return this.lists.page(caller, RESULTS, query);
  }
}
