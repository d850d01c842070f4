import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';

@Module({ imports: [HttpModule], controllers: [HealthController], providers: [HealthService] })
export class HealthModule {}
