import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { ListResults, RESULTS } from './results.queries.js';

@Controller('v1/results')
export class ResultsController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(RESULTS)
  list(@CurrentCaller() caller: Caller, @Query() query: ListResults) {
    return this.lists.page(caller, RESULTS, query);
  }
}
