import type { ClientBase } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { DatabaseFault } from './database-fault.js';
import { migrations } from './migrations/index.js';

/** The timeout of a statement, and of its waits for locks (ms). A deadline shortens both. */
export const STATEMENT_TIMEOUT = 5_000;
export const LOCK_TIMEOUT = 4_000;

/** Timeout for a new connection, and again for its settings (ms). */
const CONNECT_TIMEOUT = 2_000;

/** PostgreSQL's limits: without them, a stuck query would hold its connection for ever. A cut connection's statement ends at the next check. */
const TIMEOUTS = {
  statement_timeout: `${STATEMENT_TIMEOUT}ms`,
  lock_timeout: `${LOCK_TIMEOUT}ms`,
  idle_in_transaction_session_timeout: '10s',
  transaction_timeout: '15s',
  client_connection_check_interval: '1s',
};

/** PostgreSQL before 17 lacks transaction_timeout, and not every system can check connections. */
const SET_TIMEOUTS = `SELECT set_config(wanted.name, wanted.setting, false)
  FROM json_each_text($1) AS wanted (name, setting) JOIN pg_settings known ON known.name = wanted.name
  WHERE wanted.name <> 'client_connection_check_interval' OR version() LIKE '%linux%'`;

/** Proxies and firewalls drop idle connections after minutes (ms). */
const KEEP_ALIVE_MS = 60_000;

export interface ConnectionOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** false for work that may take long: migrations and imports. */
  timeouts?: boolean;
}

/** The connection of every process. Never `synchronize`: the schema is written in SQL. */
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
      // Pipelines the statements of a transaction.
      pipeline: true,
      keepAlive: true,
      // Idle connections are kept with their prepared statements; keep-alive shows middleboxes that they are in use.
      idleTimeoutMillis: 0,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      onConnect: async (client: ClientBase) => {
        // A broken connection fails its queries and is dropped; without a listener its `error` would also end the process.
        client.on('error', () => undefined);
        if (!timeouts) return;
        // Without query_timeout, a server that hangs would block this forever.
        const settings = { text: SET_TIMEOUTS, values: [JSON.stringify(TIMEOUTS)], query_timeout: CONNECT_TIMEOUT };
        await client.query(settings);
      },
    },
  } satisfies DataSourceOptions;
}

/** A connected data source; the caller destroys it. @throws DatabaseFault when the server cannot be used */
export function connect(options: ConnectionOptions): Promise<DataSource> {
  return initialize(new DataSource(dataSourceOptions(options)));
}

/** @throws DatabaseFault when the server cannot be used */
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
