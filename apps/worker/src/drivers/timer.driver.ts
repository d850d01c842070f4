import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type QueueName, queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';
import { OutboxListener } from './outbox-listener.js';
import { Processors } from './processors.js';

/** Without Redis: runs the recurring jobs in this process, each at its interval and never twice at once. */
@Injectable()
export class TimerDriver implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly timers = new Map<QueueName, NodeJS.Timeout>();
  private readonly running = new Map<QueueName, Promise<void>>();
  /** Queues notified during their round, which may have looked already: another round follows at once. */
  private readonly again = new Set<QueueName>();
  private stopped = false;

  constructor(
    private readonly processors: Processors,
    private readonly log: Log,
    listener: OutboxListener,
  ) {
    listener.subscribe((queue) => {
      if (this.running.has(queue)) this.again.add(queue);
      else this.schedule(queue, 0);
    });
  }

  onApplicationBootstrap(): void {
    for (const queue of queueNames) this.schedule(queue, 0);
  }

  /** Waits for running rounds. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.all(this.running.values());
  }

  /** Replaces the scheduled round. */
  private schedule(queue: QueueName, afterMs: number): void {
    if (this.stopped) return;
    clearTimeout(this.timers.get(queue));
    const timer = setTimeout(() => {
      const round = this.run(queue).finally(() => {
        this.running.delete(queue);
        this.schedule(queue, this.again.delete(queue) ? 0 : QUEUES[queue].everyMs);
      });
      this.running.set(queue, round);
    }, afterMs);
    this.timers.set(queue, timer);
  }

  private async run(queue: QueueName): Promise<void> {
    const { job } = QUEUES[queue];
    try {
      const handlers = this.processors.handlers();
      await handlers.find((handler) => handler.queue === queue && handler.job === job)?.run();
    } catch (error) {
      this.log.failure(error, null, `${queue}_${job}_failed`);
    }
  }
}
