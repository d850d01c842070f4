import { type DynamicModule, Module } from '@nestjs/common';
import type { DestinationStream } from 'pino';
import { Env } from '@app/config';
import { Log } from './log.js';

/** The one {@link Log} of the process, injectable everywhere. */
@Module({})
export class LoggingModule {
  /** @param destination instead of standard output: for tests that read what was logged */
  static forRoot(destination?: DestinationStream): DynamicModule {
    return {
      module: LoggingModule,
      global: true,
      providers: [{ provide: Log, inject: [Env], useFactory: (env: Env) => new Log(env, destination) }],
      exports: [Log],
    };
  }
}
