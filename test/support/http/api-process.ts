import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import { compiled } from '../process/processes.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** V8's memory limits, as `npm start` and `npm run start:prod` set them. */
const MEMORY = `--env-file=${fileURLToPath(new URL('../../../apps/api/heap.env', import.meta.url))}`;
const mainOf = (app: App) => fileURLToPath(new URL(`../../../dist/apps/${app}/src/main.js`, import.meta.url));

type App = 'api' | 'portal';

let built: Promise<void> | undefined;

/** Builds dist if it is stale, once in a process. */
export const buildOnce = (): Promise<void> => (built ??= build());

/** A lock keeps the processes of a run from building at once. */
async function build(): Promise<void> {
  const client = new pg.Client({ connectionString: inject('adminUrl') });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(4712)');
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build-if-stale.js'], { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(`The build failed:\n${stderr}`);
  } finally {
    await client.end();
  }
}

/** The API, or the portal, as deployed: the built main.js in its own process. */
export class ApiProcess {
  /** The log: lines of standard output. */
  readonly lines: string[] = [];
  /** Standard error: empty unless something went wrong. */
  stderr = '';
  /** The exit code or signal; null while the process runs. */
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
   * @param settings environment variables; the database URL is required
   * @param flags Node's further command-line flags
   */
  static async start(settings: Record<string, string>, flags: string[] = [], app: App = 'api'): Promise<ApiProcess> {
    const defaults = {
      NODE_ENV: 'production',
      // Not https, over which cookies have other names than in the tests' requests.
      APP_URL: 'http://portal.example',
      HOST: '127.0.0.1',
      PORT: '0',
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      RATE_LIMIT_PER_MINUTE: '1000000',
      INVITE_MAILS_PER_DAY: '1000000',
      AUTH_FAILURES_PER_MINUTE: '1000000',
      SHUTDOWN_DELAY_SECONDS: '0',
    };
    const child = spawn(process.execPath, [MEMORY, ...flags, mainOf(app)], {
      cwd: inject('scratch'),
      // Inherits nothing else, such as DATABASE_URL from a developer's shell.
      env: { PATH: process.env.PATH, ...compiled(), ...defaults, ...settings },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let early = '';
    const listen = (chunk: Buffer) => (early += chunk.toString());
    child.stderr!.on('data', listen);
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`The ${app} exited with ${code} while starting:\n${early}`);
      }),
    ])) as [{ listening: number }];
    child.stderr!.off('data', listen);
    return new ApiProcess(child, message.listening);
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Sends a message to a module preloaded into the process. @returns its answer */
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
