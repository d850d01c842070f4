import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { Env } from '@app/config';
import { Log } from './log.js';

/** Makes the process's {@link Log} injectable everywhere. */
@Module({})
export class LoggingModule {
  /** @param destination replaces standard output, for tests that read the log */
  static forRoot(destination?: DestinationStream): DynamicModule {
    const log = { provide: Log, inject: [Env], useFactory: (env: Env) => new Log(env, destination) };
    return { module: LoggingModule, global: true, providers: [log], exports: [Log] };
  }
}
