import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Env } from '@app/config';
import { GRACE } from './drain.js';
import type { ServingAdapter } from './server.js';

/** Time to close pools and write what is buffered in memory, after the requests in flight (ms). */
const CLEAN_UP = 500;

/** The first part of a shutdown: readiness fails, and connections end with their next response. Then the application closes. */
@Injectable()
export class Shutdown implements BeforeApplicationShutdown {
  private readonly begun = new AbortController();

  constructor(
    private readonly env: Env,
    private readonly host: HttpAdapterHost<ServingAdapter>,
  ) {}

  /** Whether the process is about to end. */
  get underWay(): boolean {
    return this.begun.signal.aborted;
  }

  /** Aborts when it is, for what waits for something to happen. */
  get signal(): AbortSignal {
    return this.begun.signal;
  }

  async beforeApplicationShutdown(signal?: string): Promise<void> {
    this.begun.abort();
    // SIGTERM comes from a supervisor. Whoever presses Ctrl-C does not want to wait.
    const delay = signal === 'SIGTERM' ? this.env.get('SHUTDOWN_DELAY_SECONDS') * 1_000 : 0;
    // A database that hangs must not keep the process: by then no client is connected.
    if (signal) setTimeout(() => process.exit(1), delay + GRACE + CLEAN_UP).unref();
    if (delay === 0) return;
    this.host.httpAdapter.announceClose();
    await sleep(delay);
  }
}
