import { randomBytes } from 'node:crypto';
import { getQueueToken } from '@nestjs/bull';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { JobOptions, Queue } from 'bull';
import { type QueueName, queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';
import { OutboxListener } from './outbox-listener.js';

/** How often the recurring jobs are added again (ms), in case Redis lost its data. Adding is idempotent. */
const READD_INTERVAL_MS = 30_000;

/** With Redis: keeps every recurring job in place, and turns notifications into jobs, each for one of the workers. */
@Injectable()
export class RedisDriver implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Of this process's wake-up jobs: a waiting one covers all later ones, and that of a killed process is stuck for a while. */
  private readonly nudgeId = `nudge-${randomBytes(4).toString('hex')}`;
  private queues = new Map<QueueName, Queue>();
  /** Queues with a running job in this process, and those notified meanwhile, whose job may have looked already. */
  private readonly active = new Set<string>();
  private readonly again = new Set<string>();
  /** Jobs being added: while Redis is away, one attempt each is enough. */
  private readonly adding = new Set<string>();
  private timer: NodeJS.Timeout;

  constructor(
    private readonly modules: ModuleRef,
    private readonly log: Log,
    listener: OutboxListener,
  ) {
    listener.subscribe((queue) => this.nudge(queue));
  }

  onApplicationBootstrap(): void {
    for (const name of queueNames) {
      const queue = this.modules.get<Queue>(getQueueToken(name), { strict: false });
      this.queues.set(name, queue);
      queue.on('error', (error) => this.log.failure(error, null, 'queue_error'));
      queue.on('active', () => this.active.add(name));
      queue.on('completed', () => this.ended(name));
      queue.on('failed', (_job, error) => {
        this.log.failure(error, null, `${name}_failed`);
        this.ended(name);
      });
    }
    this.addRecurring();
    // The first recurring round runs after a full interval, so run one now.
    for (const name of queueNames) this.nudge(name);
    this.timer = setInterval(() => this.addRecurring(), READD_INTERVAL_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private nudge(name: QueueName): void {
    if (this.active.has(name)) this.again.add(name);
    // Removes the job however it ends. Otherwise its id would block later ones.
    this.add(name, { jobId: this.nudgeId, removeOnComplete: true, removeOnFail: true });
  }

  private ended(name: QueueName): void {
    this.active.delete(name);
    if (this.again.delete(name)) this.nudge(name);
  }

  private addRecurring(): void {
    for (const name of queueNames) this.add(name, { jobId: QUEUES[name].job, repeat: { every: QUEUES[name].everyMs } });
  }

  private add(name: QueueName, options: JobOptions): void {
    const queue = this.queues.get(name);
    const what = `${name} ${String(options.jobId)}`;
    if (!queue || this.adding.has(what)) return;
    this.adding.add(what);
    queue
      .add(QUEUES[name].job, {}, options)
      .catch((error: unknown) => this.log.failure(error, null, 'job_not_added'))
      .finally(() => this.adding.delete(what));
  }
}
