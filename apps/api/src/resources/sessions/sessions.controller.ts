import { Controller, Get } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, one } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { SessionsService } from './sessions.service.js';
import { sessionView } from './sessions.view.js';

@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Get(':session_id')
  @RequireScopes('read')
  @Documented({ id: 'get_session', summary: 'Returns one session', answer: one(sessionView) })
  get(@CurrentCaller() caller: Caller, @PathId('session_id') id: string) {
    return this.sessions.get(caller, id);
  }
}
