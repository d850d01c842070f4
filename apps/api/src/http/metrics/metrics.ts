import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import sql, { type Sql } from 'sql-template-tag';
import type { QueryResultRow } from 'pg';
import { Database, Deadline } from '@app/database';
import { WORKER_SILENCE_MS } from '@app/jobs';
import { measureProcess, Recent, requestDurations } from '@app/serving';

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

/** How long a look at what all processes share may take (ms): nothing is reported while the database is unavailable. */
const PATIENCE_MS = 2_000;

/** The metrics at `/metrics`. Labels are route templates, codes and ids of organizations, never client input. */
@Injectable()
export class Metrics {
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

  constructor(private readonly db: Database) {
    measureProcess(this.registry, db);
    this.addBacklog();
    this.addWorkers();
    this.addLag();
  }

  /** What all processes share is looked at when somebody asks this one: several of them must not count the same again and again. */
  private shared<Row extends QueryResultRow>(statement: Sql): Recent<Row[]> {
    return new Recent(() => this.db.lookUp<Row>(statement, new Deadline(PATIENCE_MS)));
  }

  private counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Every API process reports the outbox, which all share. */
  private addBacklog(): void {
    const backlog = this.shared<Backlog>(sql`SELECT * FROM outbox_backlog()`);
    const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
      new Gauge({
        name: `outbox_${name}`,
        help,
        labelNames: ['topic'],
        registers: [this.registry],
        async collect() {
          const rows = await backlog.get();
          this.reset();
          for (const each of rows ?? []) this.set({ topic: each.topic }, valueOf(each));
        },
      });
    gauge(
      'waiting',
      'Mails, rebuilds and webhook deliveries that are queued or will be retried, up to 10,000',
      ({ waiting }) => Number(waiting),
    );
    gauge(
      'oldest_seconds',
      'Seconds since the oldest of them was queued, or since an organization waits for the turn of its webhook deliveries',
      (backlog) => backlog.oldest_seconds,
    );
    gauge('dead', 'Mails, rebuilds and webhook deliveries given up after their last try, up to 10,000', ({ dead }) =>
      Number(dead),
    );
    gauge('refused', 'Mailboxes that do not exist, as mail servers said within an hour', ({ refused }) =>
      Number(refused),
    );
  }

  /** Every API process reports the feed, which all share. */
  private addLag(): void {
    const lag = this.shared<{ seconds: number }>(sql`SELECT event_lag() AS seconds`);
    new Gauge({
      name: 'events_lag_seconds',
      help: 'How long the oldest change waits to be an event of the feed',
      registers: [this.registry],
      async collect() {
        this.set((await lag.get())?.[0]?.seconds ?? NaN);
      },
    });
  }

  /** Every API process reports the workers, which have no address of their own. */
  private addWorkers(): void {
    const workers = this.shared<WorkerState>(sql`
      SELECT worker_id AS worker, failed_claims::double precision AS failed,
        seen_at > now() - ${WORKER_SILENCE_MS} * interval '1 millisecond' AS works,
        CASE WHEN sampled_at = max(sampled_at) OVER () THEN bytes END AS bytes FROM worker_heartbeats`);
    new Gauge({
      name: 'outbox_workers',
      help: 'Workers that can claim mails and rebuilds',
      registers: [this.registry],
      async collect() {
        this.set((await workers.get())?.filter(({ works }) => works).length ?? NaN);
      },
    });
    new Gauge({
      name: 'organization_bytes',
      help: 'Estimated bytes of rows in the database, of the organizations that have most, sampled once an hour',
      labelNames: ['organization'],
      registers: [this.registry],
      async collect() {
        const rows = await workers.get();
        this.reset();
        for (const { bytes } of rows ?? [])
          for (const [organization, size] of Object.entries(bytes ?? {})) this.set({ organization }, size);
      },
    });
    new Counter({
      name: 'outbox_failed_claims_total',
      help: 'Claims of a mail or rebuild that failed, since the worker started',
      labelNames: ['worker'],
      registers: [this.registry],
      async collect() {
        const rows = await workers.get();
        this.reset();
        for (const { worker, failed } of rows ?? []) this.inc({ worker }, failed);
      },
    });
  }
}
