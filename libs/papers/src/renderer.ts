import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Turns } from '@app/concurrency';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import type { Paper } from './paper.js';

/** The longest that a paper may wait, and take (ms). One of 300 lines takes about 200. */
const LONGEST = 20_000;

/** Starting the thread reads the fonts, so it is kept for a while (ms). */
const IDLE = 60_000;

type Reply = ({ file: Uint8Array } | { fault: string }) & { warning?: string };

/** Draws papers in a thread of its own, one at a time, taking organizations in turn. */
@Injectable()
export class Renderer implements OnApplicationShutdown {
  /** The built program. Tests run from the sources and set it. */
  static program = fileURLToPath(new URL('./drawing-thread.js', import.meta.url));

  private readonly turns = new Turns(1, LONGEST);
  private thread: Worker | null = null;
  private idle?: NodeJS.Timeout;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  onApplicationShutdown(): void {
    this.retire();
  }

  /** @throws QueueFull if too many wait; Error if it cannot be drawn */
  async draw(paper: Paper, organizationId: string): Promise<Buffer> {
    const turn = this.turns.enter(organizationId);
    try {
      await turn.ready;
      clearTimeout(this.idle);
      const thread = (this.thread ??= this.start());
      thread.postMessage(paper);
      const [reply] = (await once(thread, 'message', { signal: AbortSignal.timeout(LONGEST) }).catch(
        (error: unknown) => {
          this.retire();
          throw error;
        },
      )) as [Reply];
      if (reply.warning) this.log.failure(new Error(reply.warning), null, 'cjk_font');
      if ('fault' in reply) throw new Error(`A paper could not be drawn: ${reply.fault}`);
      return Buffer.from(reply.file);
    } finally {
      this.idle = setTimeout(() => this.retire(), IDLE).unref();
      turn.end();
    }
  }

  private start(): Worker {
    // It needs nothing of the environment, where secrets are.
    const thread = new Worker(Renderer.program, {
      env: {},
      workerData: { cjkFont: this.env.get('CJK_FONT') },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    thread.unref();
    thread.once('exit', () => {
      if (this.thread === thread) this.thread = null;
    });
    return thread;
  }

  private retire(): void {
    clearTimeout(this.idle);
    void this.thread?.terminate();
    this.thread = null;
  }
}
