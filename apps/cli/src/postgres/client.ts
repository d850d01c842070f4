import pg from 'pg';
import { refusePooler } from '@app/database';

/**
 * Runs `work` on a session of its own. If the server goes away, its query rejects; without a listener, the process would end too.
 *
 * @throws DatabaseFault behind a pooler
 */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refusePooler(client, url);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
