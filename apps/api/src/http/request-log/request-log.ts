import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Env } from '@app/config';
import { SideConnection } from '@app/database';
import { Log } from '@app/logging';
import { Metrics } from '../metrics/metrics.js';

const FLUSH_INTERVAL_MS = 1_000;
/** Rows waiting to be written, about 3 MB. As many again may be in flight. */
const MOST_WAITING = 10_000;
/** Waiting rows per key, so that a busy key leaves room for others. */
const MOST_OF_KEY = MOST_WAITING / 2;
/** Waiting refusals for load (429, 503), per key and in total: a client that ignores them must not fill the log. */
const MOST_REFUSALS_OF_KEY = 100;
const MOST_REFUSALS = 1_000;
/** How long a shutdown waits for the last rows (ms), well within its grace period. */
const SHUTDOWN_PATIENCE_MS = 2_000;

/** SQLSTATE classes of rows that PostgreSQL will never accept: data exceptions and constraint violations. */
const NEVER = /^2[23]/;

/** A request as recorded. The route is the template: no part of the query, the body or an id in the path is kept. */
export interface Recorded {
  keyId: string;
  method: string;
  /** The template of the path; null if no route was found or looked for. */
  route: string | null;
  status: number;
  ms: number;
  requestId: string;
}

/** A row waiting to be written. */
interface Row extends Recorded {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * The organizations' request log: rows wait in memory and are written every second, in one statement on a separate connection.
 * Those that the database does not take in time are dropped beyond a limit, and counted.
 */
@Injectable()
export class RequestLog implements OnModuleInit, OnApplicationShutdown {
  private waiting: Row[] = [];
  /** Requests and refusals for load since the last write, by key. */
  private readonly ofKeys = new Map<string, number>();
  private readonly refusalsOfKeys = new Map<string, number>();
  private refusals = 0;
  private underWay: Promise<void> | null = null;
  private failing = false;
  private timer: NodeJS.Timeout;
  private connection: SideConnection | undefined;

  private readonly on: boolean;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    this.on = env.get('REQUEST_LOG');
  }

  onModuleInit(): void {
    if (this.on) this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    const patience = new Promise<void>((resolve) => setTimeout(resolve, SHUTDOWN_PATIENCE_MS).unref());
    await Promise.race([this.flushAll(), patience]);
    await Promise.race([this.connection?.close(), patience]);
  }

  /** Records a finished request. */
  note(request: Recorded): void {
    if (!this.on) return;
    if (!this.admit(request)) {
      this.metrics.requestLogDropped.inc();
      return;
    }
    this.waiting.push({ ...request, id: randomUUID(), at: Date.now() - request.ms });
  }

  private admit({ keyId, status }: Recorded): boolean {
    if (this.waiting.length >= MOST_WAITING) return false;
    const refused = status === 429 || status === 503;
    if (refused && ++this.refusals > MOST_REFUSALS) return false;
    const counts = refused ? this.refusalsOfKeys : this.ofKeys;
    const count = (counts.get(keyId) ?? 0) + 1;
    counts.set(keyId, count);
    return count <= (refused ? MOST_REFUSALS_OF_KEY : MOST_OF_KEY);
  }

  /** Writes the waiting rows; a call during a write returns that write. */
  flush(): Promise<void> {
    this.underWay ??= this.write().finally(() => (this.underWay = null));
    return this.underWay;
  }

  private async flushAll(): Promise<void> {
    await this.underWay;
    await this.flush();
  }

  /** Failed rows are retried with the next ones. A row that was stored after all is not stored twice. */
  private async write(): Promise<void> {
    const rows = this.waiting;
    if (rows.length === 0) return;
    this.waiting = [];
    try {
      this.connection ??= new SideConnection(this.env.urlOf('api'), 'tutoring api request log');
      await this.connection.run(insertOf(rows));
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.log.failure(error, null, 'request_log_not_written');
      this.failing = true;
      this.putBack(rows, error as { code?: unknown });
      return;
    }
    this.ofKeys.clear();
    this.refusalsOfKeys.clear();
    this.refusals = 0;
  }

  private putBack(rows: Row[], { code }: { code?: unknown }): void {
    const all = NEVER.test(String(code)) ? this.waiting : [...rows, ...this.waiting];
    this.metrics.requestLogDropped.inc(rows.length + this.waiting.length - Math.min(all.length, MOST_WAITING));
    this.waiting = all.slice(0, MOST_WAITING);
  }
}

/** Passes columns as arrays, which take PostgreSQL a third less CPU than JSON. */
function insertOf(rows: Row[]): Sql {
  const column = (name: keyof Row) => arrayOf(rows.map((row) => row[name]));
  return sql`SELECT log_requests(${column('id')}, ${column('keyId')}, ${column('method')}, ${column('route')},
    ${column('status')}, ${column('ms')}, ${column('requestId')}, ${column('at')})`;
}

/** An array literal: JSON's, in braces. The driver's own conversion takes three times as much CPU. */
function arrayOf(values: (string | number | null)[]): string {
  return `{${JSON.stringify(values).slice(1, -1)}}`;
}
