import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '../http/auth/access.decorators.js';
import { Metrics } from '../http/metrics/metrics.js';

/** For Prometheus. Don't expose it: it contains nothing personal, but shows how busy the service is. */
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Public()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  get(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
