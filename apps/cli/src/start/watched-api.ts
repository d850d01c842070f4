import { spawn, type SpawnOptions } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { Child } from './child.js';

/** The API under `nest start --watch`, on this terminal. Rebuilds and restarts whenever a source changes. */
export class WatchedApi extends Child {
  static start(env: Record<string, string>): WatchedApi {
    const nest = createRequire(import.meta.url).resolve('@nestjs/cli/bin/nest.js');
    const options: SpawnOptions = { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true };
    return new WatchedApi(spawn(process.execPath, [nest, 'start', 'api', '--watch'], options));
  }

  /** Waits however long it takes: the first build is slow, and errors may have to be fixed first. */
  async listens(address: string, signal: AbortSignal): Promise<void> {
    const live = `${address}/health/live`;
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
    throw new Error('The API exited before it accepted connections');
  }
}
