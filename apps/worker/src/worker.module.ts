import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { EmailModule } from './email/email.module.js';
import { HousekeepingModule } from './housekeeping/housekeeping.module.js';
import { PublishingWorkModule } from './publishing/publishing-work.module.js';
import { QueuesModule } from './queues.module.js';
import { RebuildsModule } from './rebuilds/rebuilds.module.js';

/** The worker: Bull processors, no HTTP. */
@Module({})
export class WorkerModule {
  /** @param logDestination replaces standard output */
  static forRoot(env: Env, logDestination?: DestinationStream): DynamicModule {
    // Required to decrypt the outbox: fail at start rather than at the first mail.
    env.need('ENCRYPTION_KEY');
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(env),
        LoggingModule.forRoot(logDestination),
        DatabaseModule.forRoot('worker'),
        DiscoveryModule,
        QueuesModule.forRoot(env),
        EmailModule,
        RebuildsModule,
        PublishingWorkModule,
        HousekeepingModule,
      ],
    };
  }
}
