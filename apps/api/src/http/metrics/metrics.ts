import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { WORKER_SILENCE_MS } from '@app/jobs';
import { measureProcess, Polled, requestDurations } from '@app/serving';

/** Pending work of one outbox topic. */
interface Backlog {
  topic: string;
  waiting: string;
  oldest_seconds: number;
  dead: string;
  refused: string;
}

/** A worker, and how many of its claims have failed since it started. */
interface WorkerState {
  worker: string;
  works: boolean;
  failed: number;
  /** Of the organizations that fill most of the database, by id; only of the latest sample. */
  bytes: Record<string, number> | null;
}

/** The metrics at `/metrics`. Labels are route templates, codes and ids of organizations, never client input. */
@Injectable()
export class Metrics implements OnModuleInit, OnApplicationShutdown {
  readonly registry = new Registry();
  readonly requests = requestDurations(this.registry);

  readonly authentications = this.counter(
    'api_key_authentications_total',
    'Outcomes of API key authentication',
    'outcome',
  );
  readonly rateLimitFallbacks = this.counter(
    'rate_limit_fallbacks_total',
    'Requests counted by this process alone because Redis did not respond',
  );
  readonly refused = this.counter(
    'http_requests_refused_total',
    'Requests refused with 503 because too many were in progress',
  );
  readonly requestLogDropped = this.counter(
    'request_log_dropped_total',
    'Requests missing from the request logs of organizations because too many were waiting to be written',
  );

  private readonly backlog: Polled<Backlog[]>;
  private readonly workers: Polled<WorkerState[]>;
  private readonly lag: Polled<{ seconds: number }[]>;

  constructor(db: Database) {
    this.backlog = new Polled(() => db.lookUp<Backlog>(sql`SELECT * FROM outbox_backlog()`));
    this.workers = new Polled(() =>
      db.lookUp<WorkerState>(sql`SELECT worker_id AS worker, failed_claims::double precision AS failed,
        seen_at > now() - ${WORKER_SILENCE_MS} * interval '1 millisecond' AS works,
        CASE WHEN sampled_at = max(sampled_at) OVER () THEN bytes END AS bytes FROM worker_heartbeats`),
    );
    this.lag = new Polled(() => db.lookUp<{ seconds: number }>(sql`SELECT event_lag() AS seconds`));
    measureProcess(this.registry, db);
    this.addBacklog();
    this.addWorkers();
    this.addLag();
  }

  async onModuleInit(): Promise<void> {
    await Promise.all([this.backlog.start(), this.workers.start(), this.lag.start()]);
  }

  onApplicationShutdown(): void {
    this.backlog.stop();
    this.workers.stop();
    this.lag.stop();
  }

  private counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Every API process reports the outbox, which all share. */
  private addBacklog(): void {
    const { backlog } = this;
    const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
      new Gauge({
        name: `outbox_${name}`,
        help,
        labelNames: ['topic'],
        registers: [this.registry],
        collect() {
          this.reset();
          // Nothing is reported while the database is unavailable.
          for (const each of backlog.current ?? []) this.set({ topic: each.topic }, valueOf(each));
        },
      });
    gauge('waiting', 'Mails, rebuilds and webhook deliveries that are queued or will be retried', ({ waiting }) =>
      Number(waiting),
    );
    gauge(
      'oldest_seconds',
      'Seconds since the oldest of them was queued, or since a webhook delivery is due',
      (backlog) => backlog.oldest_seconds,
    );
    gauge('dead', 'Mails, rebuilds and webhook deliveries given up after their last try', ({ dead }) => Number(dead));
    gauge('refused', 'Mailboxes that do not exist, as mail servers said within an hour', ({ refused }) =>
      Number(refused),
    );
  }

  /** Every API process reports the feed, which all share. */
  private addLag(): void {
    const { lag } = this;
    new Gauge({
      name: 'events_lag_seconds',
      help: 'How long the oldest change waits to be an event of the feed',
      registers: [this.registry],
      collect() {
        this.set(lag.current?.[0]?.seconds ?? NaN);
      },
    });
  }

  /** Every API process reports the workers, which have no address of their own. */
  private addWorkers(): void {
    const { workers } = this;
    new Gauge({
      name: 'outbox_workers',
      help: 'Workers that can claim mails and rebuilds',
      registers: [this.registry],
      collect() {
        this.set(workers.current?.filter(({ works }) => works).length ?? NaN);
      },
    });
    new Gauge({
      name: 'organization_bytes',
      help: 'Estimated bytes of rows in the database, of the organizations that have most, sampled once an hour',
      labelNames: ['organization'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { bytes } of workers.current ?? [])
          for (const [organization, size] of Object.entries(bytes ?? {})) this.set({ organization }, size);
      },
    });
    new Counter({
      name: 'outbox_failed_claims_total',
      help: 'Claims of a mail or rebuild that failed, since the worker started',
      labelNames: ['worker'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { worker, failed } of workers.current ?? []) this.inc({ worker }, failed);
      },
    });
  }
}
