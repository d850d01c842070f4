import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListResults } from './results.dto.js';
import { ResultsService } from './results.service.js';
import { resultView } from './results.view.js';

@Controller('v1/results')
export class ResultsController {
  constructor(private readonly results: ResultsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_results',
    summary: 'Lists assessment results, newest first',
    description: 'Results of the organization’s students: those with a session in the organization.',
    answer: page(resultView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListResults) {
    return this.results.list(caller, query);
  }
}
