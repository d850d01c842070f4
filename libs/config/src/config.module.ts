import { type DynamicModule, Module } from '@nestjs/common';
import { Env } from './env.js';
import { Vault } from './vault.js';

/** Makes the process's {@link Env}, and the vault with its encryption key, injectable everywhere. */
@Module({})
export class ConfigModule {
  static forRoot(env: Env): DynamicModule {
    const providers = [{ provide: Env, useValue: env }, Vault];
    return { module: ConfigModule, global: true, providers, exports: [Env, Vault] };
  }
}
