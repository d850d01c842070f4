import { Controller, Get } from '@nestjs/common';
import { Public } from '../http/auth/access.decorators.js';
import { HealthService, type Readiness } from './health.service.js';

/** For load balancers and orchestrators: no key is required, and nothing personal is reported. */
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Liveness. Depends on nothing else: restarting the process would not bring a database back. */
  @Get('live')
  @Public()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness: 503 while requests cannot be answered. */
  @Get('ready')
  @Public()
  ready(): Readiness {
    return this.health.ready();
  }
}
