import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '@app/config';
import { Database } from './database.js';
import { dataSourceOptions } from './data-source.js';
import type { ProcessRole } from './grants.js';
import { StartCheck } from './start-check.js';

/** PostgreSQL for one process, as its role. */
@Module({})
export class DatabaseModule {
  /** @param connected false for a look at the application without its database */
  static forRoot(role: ProcessRole, connected = true): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Env],
          useFactory: (env: Env) => ({
            ...dataSourceOptions({
              url: connected ? env.urlOf(role) : 'postgres://nowhere',
              poolSize: env.get('DATABASE_POOL_SIZE'),
              applicationName: `tutoring ${role}`,
            }),
            // A database that is just starting is waited for; the module tree comes up once it answers.
            retryAttempts: env.production ? 20 : 3,
            retryDelay: 500,
            manualInitialization: !connected,
          }),
        }),
      ],
      providers: [
        Database,
        {
          provide: StartCheck,
          inject: [DataSource, Env],
          useFactory: (dataSource: DataSource, env: Env) => new StartCheck(dataSource, env, role),
        },
      ],
      exports: [Database],
    };
  }
}
