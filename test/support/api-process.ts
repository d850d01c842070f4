import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/apps/api/src/main.js', import.meta.url));

/** Builds dist if it is older than the sources; spec files that run side by side take turns. */
export async function buildOnce(): Promise<void> {
  const client = new pg.Client({ connectionString: inject('adminUrl') });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(4712)');
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build-if-stale.js'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`The build failed:\n${stderr}`);
  } finally {
    await client.end();
  }
}

/** The API as it is deployed: the built main.js in a process of its own. */
export class ApiProcess {
  /** Lines on standard output, the log. */
  readonly lines: string[] = [];
  /** Everything on standard error: nothing, unless something went wrong. */
  stderr = '';
  /** The exit code, or the name of the signal that ended it; null while it runs. */
  ended: number | string | null = null;
  readonly exit: Promise<number | string>;

  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {
    let rest = '';
    process.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop()!;
      this.lines.push(...parts);
    });
    process.stderr!.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
    this.exit = new Promise((resolve) => {
      process.once('exit', (code, signal) => {
        this.ended = code ?? signal!;
        resolve(this.ended);
      });
    });
  }

  /**
   * @param settings environment variables; DATABASE_URL at least
   * @param flags of Node
   */
  static async start(settings: Record<string, string>, flags: string[] = []): Promise<ApiProcess> {
    const defaults = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      RATE_LIMIT_PER_MINUTE: '1000000',
      INVITE_MAILS_PER_DAY: '1000000',
      AUTH_FAILURES_PER_MINUTE: '1000000',
      SHUTDOWN_DELAY_SECONDS: '0',
    };
    const child = spawn(process.execPath, [...flags, MAIN], {
      cwd: inject('scratch'),
      // Nothing of this process' own environment: DATABASE_URL of a developer's shell, say.
      env: { PATH: process.env.PATH, ...defaults, ...settings },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let early = '';
    const listen = (chunk: Buffer) => (early += chunk.toString());
    child.stderr!.on('data', listen);
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`The API ended with ${code} at its start:\n${early}`);
      }),
    ])) as [{ listening: number }];
    child.stderr!.off('data', listen);
    return new ApiProcess(child, message.listening);
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** What the process answers to a message; a module that was loaded into it listens. */
  async ask(message: string): Promise<unknown> {
    const answer = once(this.process, 'message');
    this.process.send(message);
    return ((await answer) as unknown[])[0];
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async stop(): Promise<void> {
    if (this.ended === null) this.process.kill('SIGKILL');
    await this.exit;
  }
}
