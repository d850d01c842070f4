import { Module } from '@nestjs/common';
import { ThrottlerModule, ThrottlerStorage } from '@nestjs/throttler';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import { Metrics } from '../metrics/metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { AuthFailureLimit } from './auth-failure-limit.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { MINUTE, RateLimitStorage } from './rate-limit.storage.js';

/** The limits for keys and for addresses that fail to authenticate, which share one storage. */
@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      imports: [MetricsModule],
      inject: [Env, Log, Metrics],
      useFactory: (env: Env, log: Log, metrics: Metrics) => ({
        throttlers: [{ name: 'default', limit: env.get('RATE_LIMIT_PER_MINUTE'), ttl: MINUTE }],
        storage: new RateLimitStorage(env, log, metrics),
      }),
    }),
  ],
  providers: [AuthFailureLimit, RateLimitGuard, { provide: RateLimitStorage, useExisting: ThrottlerStorage }],
  exports: [AuthFailureLimit, RateLimitGuard, RateLimitStorage],
})
export class RateLimitModule {}
