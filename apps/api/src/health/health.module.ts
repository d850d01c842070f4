import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { MetricsController } from './metrics.controller.js';

@Module({ imports: [HttpModule], controllers: [HealthController, MetricsController], providers: [HealthService] })
export class HealthModule {}
