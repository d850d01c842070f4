import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../postgres/embedded-postgres.js';
import { Child } from './child.js';

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
    const child = spawn(process.execPath, [nest, 'start', 'api', '--watch'], {
      env: { ...env, PORT: String(port) },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    return new WatchedApi(child, port);
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
