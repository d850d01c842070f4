import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { DatabaseFault } from './database-fault.js';
import { migrations } from './migrations/index.js';

/** What one statement may take, and how much of that it may wait for locks (ms). A deadline cuts both. */
export const STATEMENT_TIMEOUT = 5_000;
export const LOCK_TIMEOUT = 4_000;

/** What a new connection may take to come up, and once more to be told its settings (ms). */
const CONNECT_TIMEOUT = 2_000;

/**
 * What PostgreSQL may spend on one statement, on waiting for a lock, idling inside a transaction and on a transaction
 * in all. A request that waits longer has lost its client anyway; without these, one stuck query holds a connection
 * for ever. A statement whose connection was cut ends at the next check.
 */
const TIMEOUTS = {
  statement_timeout: `${STATEMENT_TIMEOUT}ms`,
  lock_timeout: `${LOCK_TIMEOUT}ms`,
  idle_in_transaction_session_timeout: '10s',
  transaction_timeout: '15s',
  client_connection_check_interval: '1s',
};

/**
 * transaction_timeout is unknown before PostgreSQL 17, and the check of connections is not possible on every system: set
 * what this server can.
 */
const SET_TIMEOUTS = `SELECT set_config(wanted.name, wanted.setting, false)
  FROM json_each_text($1) AS wanted (name, setting) JOIN pg_settings known ON known.name = wanted.name
  WHERE wanted.name <> 'client_connection_check_interval' OR version() LIKE '%linux%'`;

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
    migrations,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT,
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
        if (!timeouts) return;
        // A server that hangs from now on would be waited for without end.
        const settings = { text: SET_TIMEOUTS, values: [JSON.stringify(TIMEOUTS)], query_timeout: CONNECT_TIMEOUT };
        await client.query(settings);
      },
    },
  } satisfies DataSourceOptions;
}

/**
 * A connected data source; the caller destroys it.
 *
 * @throws DatabaseFault when the server cannot be used
 */
export function connect(options: ConnectionOptions): Promise<DataSource> {
  return initialize(new DataSource(dataSourceOptions(options)));
}

/**
 * Connects.
 *
 * @throws DatabaseFault when the server cannot be used
 */
export async function initialize(dataSource: DataSource): Promise<DataSource> {
  const { url } = dataSource.options as { url: string };
  try {
    await dataSource.initialize();
    const sql = `SELECT current_setting('server_version_num')::integer AS version`;
    const [server] = await dataSource.query<{ version: number }[]>(sql);
    DatabaseFault.checkVersion(server!.version, url);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw DatabaseFault.of(error, url) ?? error;
  }
}
