import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { compiled } from '../process/processes.js';

const MAIN = fileURLToPath(new URL('../../../dist/apps/worker/src/main.js', import.meta.url));

/** The worker as deployed: the built main.js in its own process. Requires buildOnce(). */
export class WorkerProcess {
  /** Standard output and standard error. */
  output = '';
  readonly exit: Promise<unknown>;

  private constructor(private readonly process: ChildProcess) {
    for (const stream of [process.stdout!, process.stderr!]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.output += chunk));
    }
    this.exit = once(process, 'exit');
  }

  /** @param settings environment variables; DATABASE_URL and ENCRYPTION_KEY are required */
  static async start(settings: Record<string, string>): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [MAIN], {
      cwd: inject('scratch'),
      env: { PATH: process.env.PATH, ...compiled(), APP_URL: 'https://portal.example', ...settings, NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const worker = new WorkerProcess(child);
    const ready = await Promise.race([once(child, 'message').then(() => true), worker.exit.then(() => false)]);
    if (!ready) throw new Error(`The worker exited while starting:\n${worker.output}`);
    return worker;
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** LIKE pattern for `leased_by` of its leases. */
  get leases(): string {
    return `%:${this.pid}:%`;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGKILL');
      this.process.kill('SIGCONT');
    }
    await this.exit;
  }

  /** Stops it as an operator would; resolves when it has exited. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    await this.exit;
  }
}
