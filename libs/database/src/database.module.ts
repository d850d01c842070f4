import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '@app/config';
import { DatabaseFault } from './database-fault.js';
import { Database } from './database.js';
import { dataSourceOptions, initialize, poolOf } from './data-source.js';
import type { ProcessRole } from './grants.js';
import { Positions } from './replicas/positions.js';
import { Replicas } from './replicas/replicas.js';
import { StartCheck } from './start-check.js';

/** How long the worker waits for a database that may be down (ms): longer than any of its transactions may take. */
const WORKER_PATIENCE = 30_000;

/** How long an access may take that has no deadline of its own (ms). The worker does one thing after another. */
function patienceOf(role: ProcessRole, env: Env): number {
  return role === 'worker' ? WORKER_PATIENCE : env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
}

/** The rules' access to PostgreSQL. Only the API reads from replicas; every process tells what it has written. */
async function databaseOf(dataSource: DataSource, role: ProcessRole, env: Env): Promise<Database> {
  const urls = env.get('DATABASE_REPLICA_URLS');
  const patience = patienceOf(role, env);
  if (urls.length === 0) return new Database(dataSource, patience);
  const positions = await Positions.at(env.need('REDIS_URL'));
  const options = { poolSize: env.get('DATABASE_POOL_SIZE'), applicationName: `tutoring ${role}` };
  const replicas = role === 'api' ? new Replicas(urls, options, positions, poolOf(dataSource)) : null;
  return new Database(dataSource, patience, positions, replicas);
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
          useFactory: (dataSource: DataSource, env: Env) => databaseOf(dataSource, role, env),
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
