import { type ChildProcess, fork } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Failure } from '../output.js';

/** How long a process may take until it works, and to end when asked (ms). */
const START_PATIENCE = 30_000;
const STOP_PATIENCE = 15_000;

/** Bounds for V8's memory. */
const MEMORY = `--env-file=${fileURLToPath(new URL('../../../../../apps/api/heap.env', import.meta.url))}`;

/** A process of the service that the launcher started. */
export class Child {
  private constructor(
    private readonly process: ChildProcess,
    /** What the process told when it was ready. */
    readonly ready: unknown,
    /** Settles when the process ends, for whatever reason. */
    readonly ended: Promise<void>,
  ) {}

  /**
   * @param main the built entry file
   * @param env the whole environment of the process
   * @param logFile takes its log lines; its folder is there
   * @throws Failure with what the process wrote when it ended before it was ready
   */
  static async start(main: string, env: Record<string, string>, logFile: string): Promise<Child> {
    // In a process group of its own: Ctrl-C in the terminal reaches the launcher alone, which then stops all in order.
    const child = fork(main, { env, execArgv: [MEMORY], stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
    if (existsSync(logFile)) chmodSync(logFile, 0o600);
    child.stdout?.pipe(log, { end: false });
    const complaints: string[] = [];
    child.stderr?.on('data', (chunk: Buffer) => {
      complaints.push(chunk.toString());
      log.write(chunk);
      // Enough to tell what is wrong.
      if (complaints.length > 100) complaints.shift();
    });
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        log.end();
        resolve();
      });
    });
    const ready = await Promise.race([
      new Promise((resolve) => child.once('message', resolve)),
      ended.then(() => null),
      new Promise((resolve) => setTimeout(resolve, START_PATIENCE, null).unref()),
    ]);
    if (ready === null) {
      child.kill('SIGKILL');
      throw new Failure(
        ...(complaints.length > 0 ? [complaints.join('').trim()] : [`It did not start: see ${logFile}`]),
      );
    }
    return new Child(child, ready, ended);
  }

  /** Asks the process to end, and ends it when it does not. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_PATIENCE);
    await this.ended;
    clearTimeout(timer);
  }
}
