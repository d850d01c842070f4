import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { ListRequestLog } from './request-log.dto.js';
import { RequestLogService } from './request-log.service.js';
import { loggedRequestView } from './request-log.view.js';

@Controller('v1/request-log')
export class RequestLogController {
  constructor(private readonly requestLog: RequestLogService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_request_log',
    summary: "Lists the requests of the organization's API keys, newest first",
    description:
      'Requests of the last 7 days, at most about 100,000; each appears about a second after its answer. No bodies, queries or ' +
      'ids of records are kept. `route` is null for a path that does not exist, and for a request refused before its path was ' +
      'looked at. A `status` of 499 means that the client closed the connection before the answer was complete. Requests ' +
      'answered with 401 are not recorded.',
    answer: page(loggedRequestView),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListRequestLog) {
    return this.requestLog.list(caller, query);
  }
}
