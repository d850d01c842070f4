import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '@app/config';
import { DatabaseFault } from './database-fault.js';
import { Database } from './database.js';
import { dataSourceOptions, initialize } from './data-source.js';
import type { ProcessRole } from './grants.js';
import { StartCheck } from './start-check.js';

/** How long the worker waits for a database that may be down (ms): longer than any of its transactions may take. */
const WORKER_PATIENCE = 30_000;

/** How long an access may take that has no deadline of its own (ms). The worker does one thing after another. */
function patienceOf(role: ProcessRole, env: Env): number {
  return role === 'worker' ? WORKER_PATIENCE : env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
}

/** PostgreSQL for one process, as its role. */
@Module({})
export class DatabaseModule {
  /** A connection that somebody else opens and closes. */
  static on(db: Database): DynamicModule {
    const provided = { provide: Database, useValue: db };
    return { module: DatabaseModule, global: true, providers: [provided], exports: [Database] };
  }

  /** @param connected false to inspect the application without its database */
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
            // Waits for a database that is starting; the module tree is initialized once it responds.
            retryAttempts: env.production ? 20 : 3,
            retryDelay: 500,
            // Reports a permanent failure, such as a wrong password, at once.
            toRetry: (error: unknown) => !(error instanceof DatabaseFault) || error.passing,
            manualInitialization: !connected,
          }),
          dataSourceFactory: async (options) => {
            const dataSource = new DataSource(options!);
            return connected ? initialize(dataSource) : dataSource;
          },
        }),
      ],
      providers: [
        {
          provide: Database,
          inject: [DataSource, Env],
          useFactory: (dataSource: DataSource, env: Env) => new Database(dataSource, patienceOf(role, env)),
        },
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
