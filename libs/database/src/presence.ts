import pg from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseFault } from './database-fault.js';
import type { ProcessRole } from './grants.js';
import { lockNumber } from './locks.js';
import { refusePooler } from './pooler.js';

const lockOf = (role: ProcessRole) => lockNumber(`a ${role} without Redis`);

/** How long the connection may take (ms). */
const PATIENCE = 5_000;

/** A process without Redis, as others see it: it holds a lock of a session of its own, which ends with the process, however it ends. */
export class Presence {
  private readonly client: pg.Client;

  constructor(
    private readonly url: string,
    private readonly role: ProcessRole,
  ) {
    const timeouts = { connectionTimeoutMillis: PATIENCE, query_timeout: PATIENCE, keepAlive: true };
    this.client = new pg.Client({ connectionString: url, application_name: `tutoring ${role} presence`, ...timeouts });
    this.client.on('error', () => undefined);
  }

  /** @returns false behind a pooler, whose sessions are nobody's */
  async show(): Promise<boolean> {
    try {
      await this.client.connect();
      await refusePooler(this.client, this.url);
      await this.client.query('SELECT pg_advisory_lock_shared($1)', [lockOf(this.role)]);
      return true;
    } catch (error) {
      await this.end();
      if (error instanceof DatabaseFault) return false;
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

/** How many processes of this kind use the database without Redis, this one included. */
export async function presentWithoutRedis(connection: DataSource, role: ProcessRole): Promise<number> {
  const [row] = await connection.query<{ count: number }[]>(
    `SELECT count(*)::integer AS count FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND datname = current_database() AND (classid::bigint << 32 | objid::bigint) = $1`,
    [lockOf(role)],
  );
  return row!.count;
}
