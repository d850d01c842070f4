import pg from 'pg';

/** Runs `work` on a connection of its own. If the server goes away, its query rejects; without a listener, the process would end too. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>, options = ''): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, options });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
