import { type DynamicModule, Module } from '@nestjs/common';
import { Env } from './env.js';
import { Vault } from './vault.js';

/** Makes the one {@link Env} of the process, and the vault that its key opens, injectable everywhere. */
@Module({})
export class ConfigModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Env, useValue: env }, Vault],
      exports: [Env, Vault],
    };
  }
}
