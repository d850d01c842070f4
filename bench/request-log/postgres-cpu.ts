import { readFile } from 'node:fs/promises';
import type pg from 'pg';

/** CPU seconds of PostgreSQL's processes, by what they do. */
export interface PostgresCpu {
  /** The connection that writes the request log. */
  log: number;
  /** All others: those of the pool, checkpointer, WAL writer, autovacuum. */
  others: number;
}

/** What PostgreSQL's processes have used so far (Linux only). */
export async function postgresCpu(admin: pg.Client, logsName: string): Promise<PostgresCpu> {
  const { rows } = await admin.query<{ pid: number; name: string }>(
    'SELECT pid, application_name AS name FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  const sum: PostgresCpu = { log: 0, others: 0 };
  for (const { pid, name } of rows) sum[name === logsName ? 'log' : 'others'] += await cpuSeconds(pid);
  return sum;
}

/** A process that has ended meanwhile counts as none. */
async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / 1e9;
}
