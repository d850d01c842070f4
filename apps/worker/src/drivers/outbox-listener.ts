import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import pg from 'pg';
import { Env } from '@app/config';
import { OUTBOX_CHANNEL, type QueueName, queueNames } from '@app/jobs';
import { Log } from '@app/logging';

/** The delay before reconnecting (ms), doubled up to the maximum. */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;

/** How often the connection is checked (ms), because an idle one doesn't notice that its other end is gone. */
const PULSE_MS = 15_000;
const PULSE_PATIENCE_MS = 5_000;

/** Listens for committed work (NOTIFY) on its own connection. What it misses, the recurring jobs and the next connection find. */
@Injectable()
export class OutboxListener implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly listeners: ((queue: QueueName) => void)[] = [];
  private readonly stopping = new AbortController();
  private listening: Promise<void> = Promise.resolve();

  constructor(
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  subscribe(listener: (queue: QueueName) => void): void {
    this.listeners.push(listener);
  }

  onApplicationBootstrap(): void {
    this.listening = this.listen();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.listening;
  }

  private async listen(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!this.stopping.signal.aborted) {
      try {
        await this.listenOnce(() => (pause = FIRST_PAUSE_MS));
      } catch (error) {
        this.log.failure(error, null, 'outbox_not_listened');
      }
      await sleep(pause, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      pause = Math.min(2 * pause, LAST_PAUSE_MS);
    }
  }

  /** Until the connection breaks, or this process stops. */
  private async listenOnce(connected: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: this.env.urlOf('worker'),
      application_name: 'tutoring worker listener',
      connectionTimeoutMillis: PULSE_PATIENCE_MS,
      query_timeout: PULSE_PATIENCE_MS,
      keepAlive: true,
    });
    const { signal } = this.stopping;
    const over = new AbortController();
    const end = () => over.abort();
    client.on('error', end).on('end', end);
    client.on('notification', ({ payload }) => this.tell(payload ?? ''));
    signal.addEventListener('abort', end);
    try {
      await client.connect();
      await client.query(`LISTEN ${OUTBOX_CHANNEL}`);
      connected();
      this.tell('email');
      const goesOn = () => sleep(PULSE_MS, true, { signal: over.signal }).catch(() => false);
      while (await goesOn()) await client.query('SELECT 1');
    } finally {
      signal.removeEventListener('abort', end);
      // A broken connection may take long to report it.
      await Promise.race([client.end().catch(() => undefined), sleep(500)]);
    }
  }

  private tell(payload: string): void {
    const queue = queueNames.find((name) => name === payload);
    if (queue) for (const listener of this.listeners) listener(queue);
  }
}
