import pg from 'pg';
import type { Sql } from 'sql-template-tag';
import { dataSourceOptions } from './data-source.js';

/** What one statement may take from end to end (ms): a server that hangs is not waited for. */
const QUERY_TIMEOUT = 5_000;

/** A connection of its own, beside the pool, for what nobody waits for: requests never wait behind it, nor it behind them. */
export class SideConnection {
  private readonly pool: pg.Pool;

  /** Connects with the first statement, and again after an error. */
  constructor(url: string, applicationName: string) {
    const { extra, connectTimeoutMS } = dataSourceOptions({ url, poolSize: 1, applicationName });
    this.pool = new pg.Pool({
      ...extra,
      connectionString: url,
      application_name: applicationName,
      max: 1,
      connectionTimeoutMillis: connectTimeoutMS,
      query_timeout: QUERY_TIMEOUT,
    });
    this.pool.on('error', () => undefined);
  }

  /** Runs the statement as a transaction of its own, for no organization. */
  async run({ text, values }: Sql): Promise<void> {
    await this.pool.query({ text, values });
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
