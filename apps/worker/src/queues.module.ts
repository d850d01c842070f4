import { BullModule } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Env } from '@app/config';
import { queueNames } from '@app/jobs';
import { OutboxListener } from './drivers/outbox-listener.js';
import { Processors } from './drivers/processors.js';
import { RedisDriver } from './drivers/redis.driver.js';
import { TimerDriver } from './drivers/timer.driver.js';

/** Finished jobs contain nothing that isn't in the database; the latest failed ones are kept for debugging. */
const KEPT_FAILURES = 100;

/** How often a job may stall (its worker was killed) and still be retried: an extra job is harmless, an abandoned one is not. */
const MOST_STALLS = 1_000;

/** The only Bull configuration. Without Redis, a timer in this process runs the processors. */
@Module({})
export class QueuesModule {
  static forRoot(env: Env): DynamicModule {
    const url = env.get('REDIS_URL');
    return {
      module: QueuesModule,
      imports: [DiscoveryModule, ...(url ? bull(url) : [])],
      providers: [OutboxListener, Processors, url ? RedisDriver : TimerDriver],
      exports: [OutboxListener],
    };
  }
}

const bull = (url: string): DynamicModule[] => [
  BullModule.forRoot({
    url,
    prefix: 'tutoring',
    // A worker waits for Redis indefinitely; only a request must not. Bull requires both.
    redis: { maxRetriesPerRequest: null, enableReadyCheck: false },
    settings: { maxStalledCount: MOST_STALLS },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: KEPT_FAILURES },
  }),
  BullModule.registerQueue(...queueNames.map((name) => ({ name }))),
];
