import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from 'vitest/node';

/** A mutant may leave timers and connections behind, so a process ends after this many runs. */
const MOST_RUNS = 25;

/** The worker between two runs; none while one is under way. */
const idle = new Set<WarmWorker>();

/**
 * A worker whose process serves several runs and keeps the modules that it has imported: importing the API takes
 * longer than most tests. Stryker makes a run for each mutant, and Vitest ends its workers with each run.
 */
export class WarmWorker extends ForksPoolWorker {
  static readonly pool = {
    name: 'warm',
    createPoolWorker: (options: PoolOptions) => [...idle][0] ?? new WarmWorker(options),
  };

  override readonly name = 'warm';
  private runs = 0;
  private listeners: [event: string, callback: (argument: unknown) => void][] = [];

  private constructor(options: PoolOptions) {
    super(options);
    options.project.vitest.onClose(() => this.end());
  }

  override async start(): Promise<void> {
    idle.delete(this);
    if (this.runs++ > 0) return;
    await super.start();
    super.on('exit', () => idle.delete(this));
  }

  override on(event: string, callback: (argument: unknown) => void): void {
    this.listeners.push([event, callback]);
    super.on(event, callback);
  }

  override send(message: WorkerRequest): void {
    if (message.type !== 'stop' || this.runs === MOST_RUNS) {
      super.send(message);
      return;
    }
    // Told to stop, the process would no longer listen.
    idle.add(this);
    for (const [event, callback] of this.listeners)
      if (event === 'message') callback({ __vitest_worker_response__: true, type: 'stopped' });
  }

  override async stop(): Promise<void> {
    for (const [event, callback] of this.listeners.splice(0)) this.off(event, callback);
    if (!idle.has(this)) await this.end();
  }

  private async end(): Promise<void> {
    idle.delete(this);
    if (this.runs > 0) await super.stop();
  }
}
