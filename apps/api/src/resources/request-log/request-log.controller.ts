import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { ListRequestLog, REQUEST_LOG } from './request-log.queries.js';

@Controller('v1/request-log')
export class RequestLogController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(REQUEST_LOG)
  list(@CurrentCaller() caller: Caller, @Query() query: ListRequestLog) {
    return this.lists.page(caller, REQUEST_LOG, query);
  }
}
