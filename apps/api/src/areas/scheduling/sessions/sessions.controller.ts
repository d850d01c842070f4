import { Controller, Get } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, PathId, RequireScopes } from '../../../http/kit.js';
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
