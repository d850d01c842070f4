import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module.js';
import { RateLimitStorage } from './rate-limit.storage.js';

/** The one storage behind both limits: of keys, and of addresses that fail to authenticate. */
@Module({ imports: [MetricsModule], providers: [RateLimitStorage], exports: [RateLimitStorage] })
export class RateLimitModule {}
