import { BullModule } from '@nestjs/bull';
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Env } from '@app/config';
import { queueNames } from '@app/jobs';
import { BootCheck } from './drivers/boot-check.js';
import { OutboxListenerModule } from './drivers/outbox-listener.module.js';
import { Processors } from './drivers/processors.js';
import { RedisDriver } from './drivers/redis.driver.js';
import { TimerDriver } from './drivers/timer.driver.js';

/** Finished jobs tell nothing that the database does not know; of failed ones the newest are kept for a look. */
const KEPT_FAILURES = 100;

/**
 * How often a job may be found abandoned by a worker that was killed, and still be given to another. Every job only looks
 * for what the database says is due, so that one too many does no harm, and one that is given up does.
 */
const MOST_STALLS = 1_000;

/** The only Bull configuration. With Redis the processors share its queues; without, a timer of this process runs them. */
@Module({})
export class QueuesModule {
  static forRoot(env: Env): DynamicModule {
    const url = env.get('REDIS_URL');
    return {
      module: QueuesModule,
      imports: [
        DiscoveryModule,
        OutboxListenerModule,
        ...(url
          ? [
              BullModule.forRoot({
                url,
                prefix: 'tutoring',
                // A worker waits for Redis as long as it takes; only a request may not. Bull insists on both.
                redis: { maxRetriesPerRequest: null, enableReadyCheck: false },
                settings: { maxStalledCount: MOST_STALLS },
                defaultJobOptions: { removeOnComplete: true, removeOnFail: KEPT_FAILURES },
              }),
              BullModule.registerQueue(...queueNames.map((name) => ({ name }))),
            ]
          : []),
      ],
      providers: [Processors, BootCheck, url ? RedisDriver : TimerDriver],
    };
  }
}
