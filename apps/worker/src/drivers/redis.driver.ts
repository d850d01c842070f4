import { getQueueToken } from '@nestjs/bull';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { JobOptions, Queue } from 'bull';
import { type QueueName, queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';

/** A Redis that was wiped has lost its recurring jobs: they are added again this often (ms). Adding twice changes nothing. */
const READD_INTERVAL_MS = 30_000;

/** With Redis: sees to it that every recurring job is there. Bull hands each round to one of the workers. */
@Injectable()
export class RedisDriver implements OnApplicationBootstrap, OnApplicationShutdown {
  private queues: Queue[] = [];
  private timer: NodeJS.Timeout;

  constructor(
    private readonly modules: ModuleRef,
    private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    this.queues = queueNames.map((name) => this.modules.get<Queue>(getQueueToken(name), { strict: false }));
    for (const queue of this.queues) {
      queue.on('error', (error) => {
        this.log.failure(error, null, 'queue_error');
      });
      queue.on('failed', (_job, error) => {
        this.log.failure(error, null, `${queue.name}_failed`);
      });
    }
    void this.addRecurring();
    // The first round comes only when its time is up: one more at once, so that a start shows.
    for (const queue of this.queues) void this.add(queue, QUEUES[queue.name as QueueName].job, {});
    this.timer = setInterval(() => void this.addRecurring(), READD_INTERVAL_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async addRecurring(): Promise<void> {
    for (const queue of this.queues) {
      const { job, everyMs } = QUEUES[queue.name as QueueName];
      await this.add(queue, job, { jobId: job, repeat: { every: everyMs } });
    }
  }

  private async add(queue: Queue, job: string, options: JobOptions): Promise<void> {
    try {
      await queue.add(job, {}, options);
    } catch (error) {
      this.log.failure(error, null, 'job_not_added');
    }
  }
}
