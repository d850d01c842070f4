import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../postgres/embedded-postgres.js';
import { Child, STOP_PATIENCE } from './child.js';

/** The API under `nest start --watch`, on this terminal: built and started anew whenever a source changes. */
export class WatchedApi extends Child {
  private constructor(
    child: ConstructorParameters<typeof Child>[0],
    readonly port: number,
  ) {
    super(child);
  }

  static async start(env: Record<string, string>, wanted: number): Promise<WatchedApi> {
    const port = wanted || (await freePort());
    const nest = createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
    // A process group of its own, so that all of it can be ended together.
    const options = { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'inherit', 'inherit'] as const, detached: true }; // prettier-ignore
    return new WatchedApi(
      spawn(process.execPath, [nest, 'start', 'api', '--watch'], { ...options, stdio: [...options.stdio] }),
      port,
    );
  }

  /** Nest's process may end before the API that it has started: the whole group has to be gone. */
  override async stop(): Promise<void> {
    const until = performance.now() + STOP_PATIENCE;
    let signal: NodeJS.Signals | 0 = 'SIGTERM';
    while (this.signalGroup(signal)) {
      await setTimeout(100);
      signal = performance.now() > until ? 'SIGKILL' : 0;
    }
  }

  /** @returns false when no process of the group is left */
  private signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.process.pid!, signal);
    } catch {
      return false;
    }
  }

  /** Waits for it as long as it takes: the first build, and faults that are mended meanwhile. */
  async listens(signal: AbortSignal): Promise<void> {
    const live = `http://127.0.0.1:${this.port}/health/live`;
    const ending = new AbortController();
    void this.ended.then(() => ending.abort());
    const over = AbortSignal.any([signal, ending.signal]);
    while (!over.aborted) {
      const answered = await fetch(live).then(
        ({ ok }) => ok,
        () => false,
      );
      if (answered) return;
      await setTimeout(200);
    }
    throw new Error('The API ended before it listened');
  }
}
