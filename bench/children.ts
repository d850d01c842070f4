import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Load, LoadResult } from './load.js';
import type { Usage } from './probe.js';

/** Longer than any single answer takes, such as starting Nest or a round of load. */
const PATIENCE_MS = 60_000;

/** Longer than it takes to send all mails. */
const DRAIN_PATIENCE_MS = 300_000;

/** A process that the bench started: a measured server or the load generator. */
export class Child {
  private readonly process: ChildProcess;

  /**
   * @param module path of its entry file, relative to this one
   * @param log file for its output
   * @param measured whether it must report its {@link usage}
   * @param flags Node's command-line flags
   */
  constructor(
    readonly module: string,
    private readonly log: string,
    {
      args = [],
      env = {},
      measured = true,
      flags = [],
    }: { args?: string[]; env?: Record<string, string>; measured?: boolean; flags?: string[] } = {},
  ) {
    const output = openSync(log, 'a');
    this.process = fork(fileURLToPath(new URL(module, import.meta.url)), args, {
      // Inherits no settings, which would affect the measurement.
      env: { PATH: process.env.PATH, NODE_ENV: 'production', APP_URL: 'http://localhost', ...env },
      execArgv: [...flags, ...(measured ? ['--import', new URL('./probe.js', import.meta.url).href] : [])],
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Waits until the server listens. @returns its base URL */
  async listening(scheme = 'http'): Promise<string> {
    return `${scheme}://127.0.0.1:${await this.answer<number>('listening')}`;
  }

  /** Waits until the worker has started. */
  async working(): Promise<void> {
    await this.answer('working');
  }

  send(message: object): void {
    this.process.send(message);
  }

  usage(): Promise<Usage> {
    this.process.send('usage');
    return this.answer('usage');
  }

  /** Waits until the sink has accepted this many mails since the last call. @returns the time (ms since 1970) */
  taken(mails: number): Promise<number> {
    this.process.send({ mails });
    return this.answer('takenAt', DRAIN_PATIENCE_MS);
  }

  load(load: Load): Promise<LoadResult> {
    this.process.send(load);
    return this.answer('result');
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exited;
  }

  /** Waits for the next message with this field. */
  private answer<T>(field: string, patienceMs = PATIENCE_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => {
        settle();
        reject(new Error(`${this.module} ${what}. ${readFileSync(this.log, 'utf8').slice(-2000)}`));
      };
      const onExit = () => {
        fail('exited');
      };
      const onMessage = (message: Record<string, T>) => {
        if (!(field in message)) return;
        settle();
        resolve(message[field]!);
      };
      const timer = setTimeout(fail, patienceMs, `did not report "${field}" in time`);
      const settle = () => {
        clearTimeout(timer);
        this.process.off('exit', onExit).off('message', onMessage);
      };
      this.process.on('exit', onExit).on('message', onMessage);
    });
  }
}
