import { type DynamicModule, Module } from '@nestjs/common';
import { Env } from './env.js';

/** Makes the one {@link Env} of the process injectable everywhere. */
@Module({})
export class ConfigModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Env, useValue: env }],
      exports: [Env],
    };
  }
}
