import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { HOMEWORK, ListHomework } from './homework.queries.js';

@Controller('v1/homework')
export class HomeworkController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(HOMEWORK)
  list(@CurrentCaller() caller: Caller, @Query() query: ListHomework) {
    return this.lists.page(caller, HOMEWORK, query);
  }
}
