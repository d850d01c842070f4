import type { DataSource } from 'typeorm';
import type pg from 'pg';
import { connect, type ConnectionOptions } from '@app/database';

/** How long a test may wait for one of its own connections (ms). */
const PATIENCE = 60_000;

/** A connection of the tests, which the caller destroys. On a busy machine, the service's own patience is too short. */
export async function connectPatiently(options: ConnectionOptions): Promise<DataSource> {
  const dataSource = await connect(options);
  const { master } = dataSource.driver as unknown as { master: pg.Pool };
  master.options.connectionTimeoutMillis = PATIENCE;
  return dataSource;
}
