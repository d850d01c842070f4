import type { ClientBase, Pool, QueryConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { DatabaseFault } from './database-fault.js';
import { migrations } from './migrations/index.js';
import { checkServer } from './pooler.js';
import { LIMIT_SESSION } from './session-settings.js';

/** Timeout for a new connection, and again for its settings (ms). */
const CONNECT_TIMEOUT = 2_000;

/** Proxies and firewalls drop idle connections after minutes (ms). */
const KEEP_ALIVE_MS = 60_000;

export interface ConnectionOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Limits the sessions of the owner, whose role has no limits of its own. Not for work that may take long: migrations and imports. */
  limited?: boolean;
  /** Refuses a pooler: for work with locks of its session. */
  direct?: boolean;
}

/** The connection of every process. Never `synchronize`: the schema is written in SQL. */
export function dataSourceOptions({ url, poolSize, applicationName, limited }: ConnectionOptions) {
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
        // Without query_timeout, a server that hangs would block this forever.
        if (limited) await client.query({ ...LIMIT_SESSION, query_timeout: CONNECT_TIMEOUT } as QueryConfig);
      },
    },
  } satisfies DataSourceOptions;
}

/** A connected data source; the caller destroys it. @throws DatabaseFault when the server cannot be used */
export function connect(options: ConnectionOptions): Promise<DataSource> {
  return initialize(new DataSource(dataSourceOptions(options)), options.direct);
}

/** @throws DatabaseFault when the server cannot be used */
export async function initialize(dataSource: DataSource, direct = false): Promise<DataSource> {
  const { url } = dataSource.options as { url: string };
  try {
    await dataSource.initialize();
    await checkServer(poolOf(dataSource), url, direct);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw DatabaseFault.of(error, url) ?? error;
  }
}

/** The connections of a data source. */
export const poolOf = (dataSource: DataSource): Pool => (dataSource.driver as unknown as { master: Pool }).master;
