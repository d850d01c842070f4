import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { urlWith } from '../database/url-with.js';
import { freePorts } from '../process/free-ports.js';
import type { ServerBinary } from '../process/server-binary.js';
import { edited, listens } from '../process/shipped.js';

/** A real pgbouncer in front of the tests' PostgreSQL, with the file in docs/pgbouncer. */
export class TestPgBouncer {
  /** Its log. */
  output = '';

  private constructor(
    private readonly port: number,
    private readonly folder: string,
    private readonly process: ChildProcess,
  ) {
    for (const stream of [process.stdout!, process.stderr!]) stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** @param adminUrl a superuser, who sees the roles' secrets @param changes texts of the file to replace */
  static async start({ program, env }: ServerBinary, adminUrl: string, changes: Record<string, string> = {}): Promise<TestPgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await freePorts(1);
    const users = join(folder, 'userlist.txt');
    writeFileSync(users, await secretsOf(adminUrl), { mode: 0o644 });
    const { hostname, port: target } = new URL(adminUrl);
    const text = edited('pgbouncer/pgbouncer.ini', {
      'tutoring = host=postgres port=5432': `* = host=${hostname} port=${target}`,
      'listen_addr = *': 'listen_addr = 127.0.0.1\nunix_socket_dir =',
      'listen_port = 6432': `listen_port = ${port}`,
      '/etc/pgbouncer/userlist.txt': users,
      ...changes,
    });
    writeFileSync(join(folder, 'pgbouncer.ini'), text, { mode: 0o644 });
    // It refuses to run as root.
    const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    const child = spawn(program, [...account, join(folder, 'pgbouncer.ini')], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const started = new TestPgBouncer(port, folder, child);
    while (!(await listens(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${started.output}`);
      await sleep(50);
    }
    return started;
  }

  /** The database through the pooler. */
  at(url: string): string {
    return urlWith(url, { hostname: '127.0.0.1', port: String(this.port) });
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill('SIGINT');
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The roles' secrets as pgbouncer reads them: with these, it also signs in to PostgreSQL. */
async function secretsOf(adminUrl: string): Promise<string> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const { rows } = await admin
    .query<{ name: string; secret: string }>(`SELECT rolname AS name, rolpassword AS secret FROM pg_authid WHERE rolname LIKE 'tutoring\\_%'`)
    .finally(() => admin.end());
  return rows.map(({ name, secret }) => `"${name}" "${secret}"\n`).join('');
}
