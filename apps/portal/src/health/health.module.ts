import { Module } from '@nestjs/common';
import { WebModule } from '../web/web.module.js';
import { HealthController } from './health.controller.js';

@Module({ imports: [WebModule], controllers: [HealthController] })
export class HealthModule {}
