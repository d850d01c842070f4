import { Client } from 'pg';

/** PostgreSQL has transaction_timeout since version 17. */
const WITHOUT_TIMEOUTS = `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

export interface LongTransaction {
  url: string;
  applicationName: string;
  /** Changes nothing, and sees the database as it is at the beginning. */
  snapshot?: boolean;
  /** Does everything, and takes it back. */
  takeBack?: boolean;
}

/** Does the work of an operator's command, which may take hours, in one transaction of a connection of its own. */
export async function inLongTransaction<T>(
  { url, applicationName, snapshot = false, takeBack = false }: LongTransaction,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: url, application_name: applicationName, keepAlive: true });
  // Without a listener, losing the connection between two statements would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');
    await client.query(WITHOUT_TIMEOUTS);
    const result = await work(client);
    await client.query(takeBack ? 'ROLLBACK' : 'COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  } finally {
    await client.end();
  }
}
