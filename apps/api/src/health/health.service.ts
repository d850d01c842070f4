import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { WORKER_SILENCE_MS } from '@app/jobs';
import { Polled, Shutdown } from '@app/serving';
import { ApiError } from '../http/errors/api-error.js';
import { RateLimitStorage } from '../http/rate-limit/rate-limit.storage.js';

/** degraded: requests are answered, but a dependency is unavailable. */
export interface Readiness {
  status: 'ok' | 'degraded';
  checks: { database: 'up'; migrations: 'up'; worker: 'up' | 'away'; redis: 'up' | 'away' | 'off' };
}

/** What is known about the dependencies, from a look at them at most a second ago. */
interface State {
  pending: string[];
  worker: 'up' | 'away';
}

@Injectable()
export class HealthService implements OnModuleInit, OnApplicationShutdown {
  /** Checked until complete; migrations are not reverted under a running process. */
  private migrated = false;
  private readonly state = new Polled(() => this.look());

  constructor(
    private readonly db: Database,
    private readonly rateLimits: RateLimitStorage,
    private readonly shutdown: Shutdown,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.state.start();
  }

  onApplicationShutdown(): void {
    this.state.stop();
  }

  /** @throws ApiError 503 while the database does not answer or lacks migrations, and when the process is about to end */
  ready(): Readiness {
    if (this.shutdown.underWay) throw unready('The process is shutting down.');
    const state = this.state.current;
    if (!state) throw ApiError.unavailable();
    const { pending, worker } = state;
    if (pending.length > 0) throw unready('Migrations are pending.', { pending });
    const redis = this.rateLimits.redisState;
    const status = worker === 'up' && redis !== 'away' ? 'ok' : 'degraded';
    return { status, checks: { database: 'up', migrations: 'up', worker, redis } };
  }

  private async look(): Promise<State> {
    const pending = this.migrated
      ? []
      : await pendingMigrations({ query: (text) => this.db.lookUp(raw(text)) as Promise<never> });
    this.migrated = pending.length === 0;
    if (!this.migrated) return { pending, worker: 'away' };
    const [row] = await this.db.lookUp<{ fresh: boolean }>(
      sql`SELECT coalesce(max(seen_at) > now() - ${WORKER_SILENCE_MS} * interval '1 millisecond', false) AS fresh
        FROM worker_heartbeats`,
    );
    return { pending, worker: row?.fresh ? 'up' : 'away' };
  }
}

function unready(message: string, details: Record<string, unknown> = {}): ApiError {
  return new ApiError('service_unavailable', message, details, { 'Retry-After': '5' });
}
