import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/auth/access.decorators.js';
import { HealthService, type Readiness } from './health.service.js';

/** For load balancers and orchestrators: nothing here needs a key, and nothing tells about people. */
@ApiExcludeController()
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** The process runs. Depends on nothing: a database that is away is no reason to kill the process. */
  @Get('live')
  @Public()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** The process can answer. 503 while it cannot. */
  @Get('ready')
  @Public()
  ready(): Promise<Readiness> {
    return this.health.ready();
  }
}
