import { Module } from '@nestjs/common';
import { MetricsModule } from '../metrics/metrics.module.js';
import { AuthFailureLimit } from './auth-failure-limit.js';
import { KeyLimit } from './key-limit.js';
import { RateLimitStorage } from './rate-limit.storage.js';

/** Both limits, of keys and of addresses that fail to authenticate, on one storage. */
@Module({
  imports: [MetricsModule],
  providers: [AuthFailureLimit, KeyLimit, RateLimitStorage],
  exports: [AuthFailureLimit, KeyLimit, RateLimitStorage],
})
export class RateLimitModule {}
