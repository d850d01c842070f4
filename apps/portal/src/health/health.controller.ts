import { Controller, Get } from '@nestjs/common';
import { Probe } from '../web/access.decorators.js';
import { HealthService } from './health.service.js';

/** For load balancers and orchestrators. */
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** The process runs. Depends on nothing: a database that is away is no reason to kill the process. */
  @Get('live')
  @Probe()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Pages can be shown. 503 while they cannot. */
  @Get('ready')
  @Probe()
  ready(): Promise<{ status: 'ok' }> {
    return this.health.ready();
  }
}
