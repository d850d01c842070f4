import { readFile } from 'node:fs/promises';
import type pg from 'pg';

/** CPU seconds of PostgreSQL's processes. */
export interface PostgresCpu {
  /** The connection that writes the request log. */
  log: number;
  /** The other connections, the checkpointer, the WAL writer and autovacuum. */
  others: number;
}

/** The CPU time that PostgreSQL's processes have used so far (Linux only). */
export async function postgresCpu(admin: pg.Client, logsName: string): Promise<PostgresCpu> {
  const { rows } = await admin.query<{ pid: number; name: string }>(
    'SELECT pid, application_name AS name FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  const sum: PostgresCpu = { log: 0, others: 0 };
  for (const { pid, name } of rows) sum[name === logsName ? 'log' : 'others'] += await cpuSeconds(pid);
  return sum;
}

/** @returns 0 for a process that has ended in the meantime */
async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / 1e9;
}
