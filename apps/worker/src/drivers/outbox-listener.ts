import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import pg from 'pg';
import sql from 'sql-template-tag';
import { Env } from '@app/config';
import { Database } from '@app/database';
import { OUTBOX_CHANNEL, type QueueName, queueNames, QUEUES } from '@app/jobs';
import { Log } from '@app/logging';

/** The delay before reconnecting (ms), doubled up to the maximum. */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;

/** How often the connection is checked (ms), because an idle one doesn't notice that its other end is gone. */
const PULSE_MS = 15_000;
const PULSE_PATIENCE_MS = 5_000;

/** How long a notification may take (ms). A pooler in transaction mode passes none on, and reports no error. */
const HEARING_MS = 3_000;

/** Listens for committed work (NOTIFY) on its own connection. What it misses, the recurring jobs and the next connection find. */
@Injectable()
export class OutboxListener implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly listeners: ((queue: QueueName) => void)[] = [];
  private readonly stopping = new AbortController();
  private listening: Promise<void> = Promise.resolve();
  private isTested = false;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly db: Database,
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
      connectionString: this.env.listenUrl,
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
      if (!this.isTested) await this.test(client, over.signal);
      const goesOn = () => sleep(PULSE_MS, true, { signal: over.signal }).catch(() => false);
      while (await goesOn()) await client.query('SELECT 1');
    } finally {
      signal.removeEventListener('abort', end);
      // A broken connection may take long to report it.
      await Promise.race([client.end().catch(() => undefined), sleep(500)]);
    }
  }

  /** Sends a notification to itself, once, from where writes send theirs. */
  private async test(client: pg.Client, signal: AbortSignal): Promise<void> {
    const greeting = randomUUID();
    const heard = new Promise<boolean>((resolve) => {
      client.on('notification', ({ payload }) => {
        if (payload === greeting) resolve(true);
      });
    });
    await this.db.lookUp(sql`SELECT pg_notify(${OUTBOX_CHANNEL}, ${greeting})`);
    const unheard = sleep(HEARING_MS, false, { signal }).catch(() => true);
    this.isTested = true;
    if (await Promise.race([heard, unheard])) return;
    const seconds = QUEUES.email.everyMs / 1_000;
    this.log.warn(
      `No notification arrives at ${this.env.nameOf(this.env.listenUrl)}, so mails and calls leave up to ${seconds} s late: set WORKER_LISTEN_URL to the address of PostgreSQL itself, without a pooler (docs/scaling.md)`,
      'OutboxListener',
    );
  }

  private tell(payload: string): void {
    const queue = queueNames.find((name) => name === payload);
    if (queue) for (const listener of this.listeners) listener(queue);
  }
}
