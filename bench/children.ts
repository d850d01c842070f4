import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Load, LoadResult } from './load.js';
import type { Usage } from './probe.js';

/** Longer than any one answer takes: starting Nest, or a round of load. */
const PATIENCE_MS = 60_000;

/** Longer than all mails take to go out. */
const DRAIN_PATIENCE_MS = 300_000;

/** A process of this run: one of the servers that are measured, or the load generator. */
export class Child {
  private readonly process: ChildProcess;

  /**
   * @param module path of its entry file, from here
   * @param log file that takes everything it prints
   * @param measured whether it is asked for its {@link usage}
   * @param flags of Node
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
      // Nothing of the caller's own settings: they would be part of what is measured.
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
      execArgv: [...flags, ...(measured ? ['--import', new URL('./probe.js', import.meta.url).href] : [])],
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Where a server listens, once it does. */
  async listening(scheme = 'http'): Promise<string> {
    return `${scheme}://127.0.0.1:${await this.answer<number>('listening')}`;
  }

  /** Until the worker does. */
  async working(): Promise<void> {
    await this.answer('working');
  }

  usage(): Promise<Usage> {
    this.process.send('usage');
    return this.answer('usage');
  }

  /** When the sink has taken so many mails since it was last asked: by the clock of this machine (ms). */
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

  /** The next message that has this field. */
  private answer<T>(field: string, patienceMs = PATIENCE_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => {
        settle();
        reject(new Error(`${this.module} ${what}. ${readFileSync(this.log, 'utf8').slice(-2000)}`));
      };
      const onExit = () => {
        fail('ended');
      };
      const onMessage = (message: Record<string, T>) => {
        if (!(field in message)) return;
        settle();
        resolve(message[field]!);
      };
      const timer = setTimeout(fail, patienceMs, `did not tell "${field}" in time`);
      const settle = () => {
        clearTimeout(timer);
        this.process.off('exit', onExit).off('message', onMessage);
      };
      this.process.on('exit', onExit).on('message', onMessage);
    });
  }
}
