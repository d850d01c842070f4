import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { TestApi } from '../http/api.js';

/** The size of the API's pool in specs that examine every connection. */
export const POOL = 5;

/** Runs a statement on every connection in the pool. */
export async function onEveryConnection<Row extends pg.QueryResultRow>(api: TestApi, statement: string): Promise<Row[]> {
  const pool = (api.app.get(DataSource).driver as unknown as { master: pg.Pool }).master;
  const clients = await Promise.all(Array.from({ length: POOL }, () => pool.connect()));
  try {
    return (await Promise.all(clients.map((client) => client.query<Row>(statement)))).flatMap(({ rows }) => rows);
  } finally {
    for (const client of clients) client.release();
  }
}

/** The organizations that are still set on the pool's connections. */
export async function organizationsLeft(api: TestApi): Promise<string[]> {
  const statement = `SELECT current_setting('app.organization_id', true) AS id`;
  return (await onEveryConnection<{ id: string | null }>(api, statement)).flatMap(({ id }) => (id ? [id] : []));
}
