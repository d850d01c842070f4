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

/** Proxies and firewalls forget connections that are silent for minutes (ms). */
const KEEP_ALIVE_MS = 60_000;

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
      // Kept, with the statements that are prepared on them; whatever stands between is shown that they are in use.
      idleTimeoutMillis: 0,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      onConnect: async (client: ClientBase) => {
        // A connection that breaks while it is in use fails its queries and is dropped; as an event that nobody listens to
        // it would end the process too.
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
