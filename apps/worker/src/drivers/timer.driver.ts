import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';
import { Processors } from './processors.js';

/** Without Redis: the recurring jobs of this one process, each after its pause. A round is never run twice at once. */
@Injectable()
export class TimerDriver implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly running = new Set<Promise<void>>();
  private stopped = false;

  constructor(
    private readonly processors: Processors,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    for (const queue of queueNames) this.schedule(queue, 0);
  }

  /** Lets what runs finish. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.all(this.running);
  }

  private schedule(queue: keyof typeof QUEUES, afterMs: number): void {
    if (this.stopped) return;
    const { job, everyMs } = QUEUES[queue];
    const timer = setTimeout(() => {
      const round = this.run(queue, job).finally(() => {
        this.running.delete(round);
        this.schedule(queue, everyMs);
      });
      this.running.add(round);
    }, afterMs);
    this.timers.set(queue, timer);
  }

  private async run(queue: string, job: string): Promise<void> {
    try {
      await this.processors
        .handlers()
        .find((handler) => handler.queue === queue && handler.job === job)
        ?.run();
    } catch (error) {
      this.log.failure(error, null, `${queue}_${job}_failed`);
    }
  }
}
