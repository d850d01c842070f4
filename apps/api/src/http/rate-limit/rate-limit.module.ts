import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module.js';
import { AuthFailureLimit } from './auth-failure-limit.js';
import { KeyLimit } from './key-limit.js';
import { RateLimitStorage } from './rate-limit.storage.js';

/** The limits for keys and for addresses that fail to authenticate, which share one storage. */
@Module({
  imports: [MetricsModule],
  providers: [AuthFailureLimit, KeyLimit, RateLimitStorage],
  exports: [AuthFailureLimit, KeyLimit, RateLimitStorage],
})
export class RateLimitModule {}
