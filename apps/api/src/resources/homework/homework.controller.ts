import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { DocumentedList } from '../../http/openapi/operation.decorator.js';
import { HOMEWORK, ListHomework } from './homework.queries.js';

@Controller('v1/homework')
export class HomeworkController {
  constructor(private readonly lists: Lists) {}

  @Get()
  @RequireScopes('read')
  @DocumentedList(HOMEWORK)
  list(@CurrentCaller() caller: Caller, @Query() query: ListHomework) {
    return this.lists.page(caller, HOMEWORK, query);
  }
}
