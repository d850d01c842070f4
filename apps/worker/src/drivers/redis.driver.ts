import { getQueueToken } from '@nestjs/bull';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Queue } from 'bull';
import { queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';

/** A Redis that was wiped has lost its recurring jobs: they are added again this often (ms). Adding twice changes nothing. */
const READD_INTERVAL_MS = 30_000;

/** With Redis: sees to it that every recurring job is there. Bull hands each round to one of the workers. */
@Injectable()
export class RedisDriver implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly queues: Queue[];
  private timer: NodeJS.Timeout;

  constructor(
    modules: ModuleRef,
    private readonly log: Log,
  ) {
    this.queues = queueNames.map((name) => modules.get<Queue>(getQueueToken(name), { strict: false }));
  }

  onApplicationBootstrap(): void {
    for (const queue of this.queues) {
      queue.on('error', (error) => {
        this.log.failure(error, null, 'queue_error');
      });
      queue.on('failed', (_job, error) => {
        this.log.failure(error, null, `${queue.name}_failed`);
      });
    }
    void this.addRecurring();
    this.timer = setInterval(() => void this.addRecurring(), READD_INTERVAL_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async addRecurring(): Promise<void> {
    for (const queue of this.queues) {
      const { job, everyMs } = QUEUES[queue.name as keyof typeof QUEUES];
      await queue.add(job, {}, { jobId: job, repeat: { every: everyMs } }).catch((error: unknown) => {
        this.log.failure(error, null, 'recurring_job_not_added');
      });
    }
  }
}
