import pg, { type ClientBase, type Pool } from 'pg';
import { DatabaseFault } from './database-fault.js';
import { sqlStateOf } from './sql-state.js';

/** Not in the driver's types: the process that serves the connection, as it was told when it connected. */
type Connected = ClientBase & { processID: number };

interface Seen {
  version: number;
  /** The process that serves the connection. */
  pid: number;
  /** Whether PostgreSQL knows the statement by its name. */
  named: boolean;
}

const NAME = 'pooler_probe';

/** Sees its own name in PostgreSQL, unless a pooler has given it another. */
const PROBE = {
  name: NAME,
  text: `SELECT current_setting('server_version_num')::integer AS version, pg_backend_pid() AS pid,
    EXISTS (SELECT FROM pg_prepared_statements WHERE name = '${NAME}') AS named`,
};

/** Another connection has prepared a statement with this name in the same session. */
const DUPLICATE_STATEMENT = '42P05';

/** How often two connections are compared: busy ones of a pooler soon get other sessions, and idle ones share one at once. */
const COMPARISONS = 20;

/** How long one statement may take (ms). */
const PATIENCE = 5_000;

/**
 * Checks what a pool is connected to: PostgreSQL's version, and poolers, which do not tell the process that serves a connection.
 *
 * @param direct whether the work needs PostgreSQL itself, for locks and settings of its session
 * @throws DatabaseFault if it cannot be used
 */
export async function checkServer(pool: Pool, url: string, direct: boolean): Promise<void> {
  const client = (await pool.connect()) as pg.PoolClient & Connected;
  const seen = await probe(client).finally(() => client.release());
  if (seen) DatabaseFault.checkVersion(seen.version, url);
  if (seen?.pid === client.processID) return;
  if (direct) throw DatabaseFault.ofPooler(url);
  if (seen && !(seen.named && (await sharesSessions(url)))) return;
  throw DatabaseFault.ofOldPooler(url);
}

/** @throws DatabaseFault if there is a pooler between the client and PostgreSQL */
export async function refusePooler(client: ClientBase, url: string): Promise<void> {
  if ((await pidOf(client)) !== (client as Connected).processID) throw DatabaseFault.ofPooler(url);
}

/** @returns null if a statement with the same name is there already */
async function probe(client: ClientBase): Promise<Seen | null> {
  try {
    return (await client.query<Seen>(PROBE)).rows[0]!;
  } catch (error) {
    if (sqlStateOf(error) === DUPLICATE_STATEMENT) return null;
    throw error;
  }
}

/** Whether two connections use the same session by turns, or one uses several: then names of statements have to be kept apart. */
async function sharesSessions(url: string): Promise<boolean> {
  const options = { connectionString: url, connectionTimeoutMillis: PATIENCE, query_timeout: PATIENCE };
  const [one, other] = [new pg.Client(options), new pg.Client(options)];
  try {
    for (const client of [one, other]) await client.on('error', () => undefined).connect();
    const first = await pidOf(one);
    for (let time = 0; time < COMPARISONS; time++) {
      if ((await pidOf(other)) === first || (await pidOf(one)) !== first) return true;
    }
    return false;
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
}

async function pidOf(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}
