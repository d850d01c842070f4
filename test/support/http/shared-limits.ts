import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { Metrics } from '../../../apps/api/src/http/metrics/metrics.js';
import { RateLimitStorage } from '../../../apps/api/src/http/rate-limit/rate-limit.storage.js';
import { TestRedis } from '../worker/redis.js';
import { TestApi } from './api.js';

export const LIMIT = 20;

export const storageOf = (api: TestApi) => api.app.get(RateLimitStorage);

/** Two processes that share their rate limits in their own Redis. */
export class SharedLimits {
  /** All processes that count requests. */
  readonly processes: TestApi[];

  private constructor(
    readonly redis: TestRedis,
    /** A client connected to that Redis. */
    readonly inside: Redis,
    readonly first: TestApi,
    readonly second: TestApi,
    private readonly organizationId: string,
  ) {
    this.processes = [first, second];
  }

  static async open(): Promise<SharedLimits> {
    const redis = await TestRedis.start();
    const settings = { REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: String(LIMIT), AUTH_FAILURES_PER_MINUTE: '6' };
    const first = await TestApi.start(settings);
    const second = await TestApi.start(settings, first.database);
    const { id } = await first.organizations.create({ name: 'Limited', slug: 'limited' });
    return new SharedLimits(redis, redis.client(), first, second, id);
  }

  async close(): Promise<void> {
    this.inside.disconnect();
    await this.second.close();
    await this.first.stop();
    await this.redis.stop();
  }

  async newKey(): Promise<{ key: string; window: string }> {
    const { id, key } = await this.first.keys.create(this.organizationId, { name: 'limited' });
    return { key, window: `rate-limit:key:${id}` };
  }

  /** The number of requests that were counted only in their process. */
  async fallbacks(): Promise<number> {
    const metrics = await Promise.all(this.processes.map((api) => api.app.get(Metrics).rateLimitFallbacks.get()));
    return metrics.reduce((sum, { values }) => sum + (values[0]?.value ?? 0), 0);
  }

  /** Repeats work if Redis was too slow: on a busy machine, processes then rightly count on their own. */
  async whileShared<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const before = await this.fallbacks();
      try {
        return await work();
      } catch (error) {
        if (attempt === 5 || (await this.fallbacks()) === before) throw error;
        await sleep(1_500);
      }
    }
  }
}

export const linesAbout = (api: TestApi, what: string) => api.logged.filter((line) => line.includes(what));

export async function until(what: string, met: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect([what, await met()]).toEqual([what, true]), { interval: 20 });
}
