import { Controller, Get } from '@nestjs/common';
import { Probe } from '../web/access.decorators.js';
import { HealthService } from './health.service.js';

/** For load balancers and orchestrators: no key is required, and nothing personal is reported. */
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Liveness. Depends on nothing else: restarting the process would not bring a database back. */
  @Get('live')
  @Probe()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness: 503 while pages cannot be served. */
  @Get('ready')
  @Probe()
  ready(): { status: 'ok' } {
    return this.health.ready();
  }
}
