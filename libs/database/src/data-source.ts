import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { entities } from './entities/index.js';
import { migrations } from './migrations/index.js';

/**
 * What PostgreSQL may spend on one statement, on waiting for a lock, idling inside a transaction and on a transaction
 * in all. A request that waits longer has lost its client anyway; without these, one stuck query holds a connection
 * for ever.
 */
const TIMEOUTS = {
  statement_timeout: '5s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '10s',
  transaction_timeout: '15s',
};

/** transaction_timeout is unknown before PostgreSQL 17: set what this server knows. */
const SET_TIMEOUTS = `SELECT set_config(wanted.name, wanted.setting, false)
  FROM json_each_text($1) AS wanted (name, setting) JOIN pg_settings known ON known.name = wanted.name`;

export interface ConnectionOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** false for work that may take long: migrations and imports. */
  timeouts?: boolean;
}

/** How every process connects. Never `synchronize`: the migrations are the schema. */
export function dataSourceOptions({ url, poolSize, applicationName, timeouts = true }: ConnectionOptions) {
  return {
    type: 'postgres',
    url,
    applicationName,
    entities,
    migrations,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    poolSize,
    // Waiting longer than this for a connection is overload, answered as such (503).
    connectTimeoutMS: 2_000,
    poolErrorHandler: () => undefined,
    extra: {
      // Statements of one transaction leave together instead of one round trip each.
      pipeline: true,
      keepAlive: true,
      onConnect: async (client: ClientBase) => {
        // A connection that breaks tells whoever is using it by failing their queries. It says so in an event too, and one
        // that nobody listens to would end the process.
        client.on('error', () => undefined);
        if (timeouts) await client.query(SET_TIMEOUTS, [JSON.stringify(TIMEOUTS)]);
      },
    },
  } satisfies DataSourceOptions;
}

/** A connected data source; the caller destroys it. */
export async function connect(options: ConnectionOptions): Promise<DataSource> {
  return new DataSource(dataSourceOptions(options)).initialize();
}
