import pg from 'pg';
import type { Sql } from 'sql-template-tag';
import { dataSourceOptions } from './data-source.js';

/** How long one statement may take from end to end (ms), so that nothing waits for a server that hangs. */
const QUERY_TIMEOUT = 5_000;

/** A connection outside the pool for work that nobody waits for: it never delays requests, nor they it. */
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

  /** Runs the statement in its own transaction, without an organization. */
  async run({ text, values }: Sql): Promise<void> {
    await this.pool.query({ text, values });
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
