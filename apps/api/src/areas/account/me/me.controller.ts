import { Controller, Get } from '@nestjs/common';
import { type Caller, CurrentCaller, Documented, one, RequireScopes } from '../../../http/kit.js';
import { MeService } from './me.service.js';
import { meView, pingView } from './me.view.js';

@Controller('v1')
export class MeController {
  constructor(private readonly organization: MeService) {}

  @Get('ping')
  @RequireScopes('read')
  @Documented({ id: 'ping', summary: 'Checks the key and names its organization', answer: one(pingView) })
  ping(@CurrentCaller() caller: Caller) {
    return this.organization.ping(caller);
  }

  @Get('me')
  @RequireScopes('read')
  @Documented({ id: 'get_me', summary: 'Returns the organization and scopes of the key', answer: one(meView) })
  me(@CurrentCaller() caller: Caller) {
    return this.organization.me(caller);
  }
}
