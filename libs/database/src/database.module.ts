import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Env } from '@app/config';
import { Database } from './database.js';
import { dataSourceOptions } from './data-source.js';
import { StartCheck } from './start-check.js';

/** PostgreSQL for one process, as the application's role. */
@Module({})
export class DatabaseModule {
  /** @param connected false for a look at the application without its database */
  static forRoot(applicationName: string, connected = true): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Env],
          useFactory: (env: Env) => ({
            ...dataSourceOptions({
              url: connected ? env.need('DATABASE_URL') : 'postgres://nowhere',
              poolSize: env.get('DATABASE_POOL_SIZE'),
              applicationName,
            }),
            // A database that is just starting is waited for; the module tree comes up once it answers.
            retryAttempts: env.production ? 20 : 3,
            retryDelay: 500,
            manualInitialization: !connected,
          }),
        }),
      ],
      providers: [Database, StartCheck],
      exports: [Database],
    };
  }
}
