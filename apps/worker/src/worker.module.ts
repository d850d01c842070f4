import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { DestinationStream } from 'pino';
import { ConfigModule, type Env } from '@app/config';
import { DatabaseModule } from '@app/database';
import { LoggingModule } from '@app/logging';
import { HousekeepingModule } from './housekeeping/housekeeping.module.js';
import { QueuesModule } from './queues.module.js';

/** The Bull processor app: no HTTP. */
@Module({})
export class WorkerModule {
  /** @param logDestination instead of standard output */
  static forRoot(env: Env, logDestination?: DestinationStream): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(env),
        LoggingModule.forRoot(logDestination),
        DatabaseModule.forRoot('tutoring worker'),
        DiscoveryModule,
        QueuesModule.forRoot(env),
        HousekeepingModule,
      ],
    };
  }
}
