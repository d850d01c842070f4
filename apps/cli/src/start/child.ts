import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../output.js';
import { LogFile } from './log-file.js';

/** How long a process may take to start, and to end when asked (ms). */
const START_PATIENCE = 30_000;
const STOP_PATIENCE = 15_000;

/** V8's memory limits. */
const MEMORY = `--env-file=${fileURLToPath(new URL('../../../../../apps/api/heap.env', import.meta.url))}`;

/** A process of the launcher, in its own process group: Ctrl-C reaches only the launcher, which stops all in order. */
export class Child {
  /** Settles when the process ends, for whatever reason. */
  readonly ended: Promise<void>;

  constructor(private readonly process: ChildProcess) {
    this.ended = new Promise((resolve) => {
      process.once('exit', () => resolve());
      process.once('error', () => resolve());
    });
  }

  /** @param env the whole environment of the process @param logFile takes its log lines */
  static fork(main: string, env: Record<string, string>, logFile: string): LoggedChild {
    const child = fork(main, { env, execArgv: [MEMORY], stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    return new LoggedChild(child, logFile);
  }

  /** Asks the whole group to end, then kills it. Waits for all, because a process may end before its own children. */
  async stop(): Promise<void> {
    const until = performance.now() + STOP_PATIENCE;
    let signal: NodeJS.Signals | 0 = 'SIGTERM';
    while (this.signalGroup(signal)) {
      await sleep(50);
      signal = performance.now() > until ? 'SIGKILL' : 0;
    }
  }

  /** @returns false if no process of the group is left */
  private signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.process.pid!, signal);
    } catch {
      return false;
    }
  }
}

/** One of our own programs, which reports when it is ready. */
class LoggedChild extends Child {
  private readonly complaints: string[] = [];
  private readonly message: Promise<unknown>;

  constructor(
    process: ChildProcess,
    private readonly logFile: string,
  ) {
    super(process);
    const log = new LogFile(logFile);
    this.message = new Promise((resolve) => process.once('message', resolve));
    process.stdout?.pipe(log, { end: false });
    process.stderr?.pipe(log, { end: false });
    process.stderr?.on('data', (chunk: Buffer) => {
      this.complaints.push(chunk.toString());
      // The last ones are enough to show what is wrong.
      if (this.complaints.length > 100) this.complaints.shift();
    });
  }

  /** Resolves with the message that the process sends when ready. @throws Failure with its error output if it ends or takes too long */
  async ready(): Promise<unknown> {
    const patience = new Promise((resolve) => setTimeout(resolve, START_PATIENCE, null).unref());
    const message = await Promise.race([this.message, this.ended.then(() => null), patience]);
    if (message !== null) return message;
    const complaint = this.complaints.join('').trim();
    throw new Failure(complaint || `A process did not start: see ${this.logFile}`);
  }
}
