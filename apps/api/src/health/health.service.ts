import { Injectable } from '@nestjs/common';
import sql, { raw } from 'sql-template-tag';
import { Database, pendingMigrations } from '@app/database';
import { WORKER_SILENCE_MS } from '@app/jobs';
import { Shutdown } from '@app/serving';
import { ApiError } from '../http/errors/api-error.js';
import { RateLimitStorage } from '../http/rate-limit/rate-limit.storage.js';

/** degraded: requests are answered, but a dependency is unavailable. */
export interface Readiness {
  status: 'ok' | 'degraded';
  checks: {
    database: 'up';
    migrations: 'up';
    worker: 'up' | 'away';
    redis: 'up' | 'away' | 'off';
  };
}

@Injectable()
export class HealthService {
  /** Checked until complete; migrations are not reverted under a running process. */
  private migrated = false;

  constructor(
    private readonly db: Database,
    private readonly rateLimits: RateLimitStorage,
    private readonly shutdown: Shutdown,
  ) {}

  /** @throws ApiError 503 while the database does not answer or lacks migrations, and when the process is about to end */
  async ready(): Promise<Readiness> {
    if (this.shutdown.underWay) {
      throw new ApiError('service_unavailable', 'The process is shutting down.', {}, { 'Retry-After': '5' });
    }
    if (!this.migrated) {
      const pending = await pendingMigrations({
        query: (text) => this.db.lookUp(raw(text), 'urgent') as Promise<never>,
      });
      if (pending.length > 0) {
        throw new ApiError('service_unavailable', 'Migrations are pending.', { pending }, { 'Retry-After': '5' });
      }
      this.migrated = true;
    }
    const [row] = await this.db.lookUp<{ fresh: boolean }>(
      sql`SELECT coalesce(max(seen_at) > now() - ${WORKER_SILENCE_MS} * interval '1 millisecond', false) AS fresh
        FROM worker_heartbeats`,
      'urgent',
    );
    const worker = row?.fresh ? 'up' : 'away';
    const redis = this.rateLimits.redisState;
    return {
      status: worker === 'up' && redis !== 'away' ? 'ok' : 'degraded',
      checks: { database: 'up', migrations: 'up', worker, redis },
    };
  }
}
