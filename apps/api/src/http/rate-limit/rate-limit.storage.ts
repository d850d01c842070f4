import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import { Metrics } from '../metrics/metrics.js';
import type { RateLimitRedis } from './rate-limit.redis.js';
import { type Room, SlidingWindow } from './sliding-window.js';

/** Beyond this number, the least recently used is dropped: an attacker with many addresses must not fill the memory. */
const MOST_WINDOWS = 100_000;
/** Windows reported at once when Redis is back. They take a few milliseconds, so hits behind them are not late. */
const REPORTED_AT_ONCE = 50;

/** The result of a hit, in the throttler's terms. Times are seconds, rounded up. */
export type RateLimitRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** A hit on its way to Redis. */
interface Hit {
  /** Set if Redis was late and this process decided: when it counted the hit, or null if it refused it. */
  countedHere?: number | null;
}

/**
 * Counts hits: in Redis if configured (shared by all processes), else in this process.
 *
 * Redis answers each hit with the whole window, which this process keeps. While Redis is late or away, counting
 * continues from there: the rest of the limit is divided by the number of processes, and hits allowed in the meantime
 * are reported when Redis is back. A window that is known to be full refuses without asking Redis.
 */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage, OnModuleInit, OnApplicationShutdown {
  private readonly windows = new LRUCache<string, SlidingWindow>({ max: MOST_WINDOWS });
  private redis: RateLimitRedis | null = null;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    const url = this.env.get('REDIS_URL');
    if (!url) return;
    // Without Redis, its client takes no memory.
    const { RateLimitRedis } = await import('./rate-limit.redis.js');
    this.redis = new RateLimitRedis(url, this.log, () => void this.report());
    await this.redis.start();
  }

  onApplicationShutdown(): void {
    this.redis?.stop();
  }

  /** For readiness: whether the limits are shared. */
  get redisState(): 'off' | 'up' | 'away' {
    if (!this.redis) return 'off';
    return this.redis.away || !this.redis.connected ? 'away' : 'up';
  }

  /**
   * Counts a hit unless the limit is reached; refused hits do not count.
   *
   * @param ttl length of the window in milliseconds
   */
  async increment(key: string, ttl: number, limit: number): Promise<RateLimitRecord> {
    const window = this.windows.get(key) ?? this.add(key, ttl);
    if (!this.redis || this.redis.late || this.room(window, limit).left <= 0) return this.countHere(window, limit);
    const hit: Hit = {};
    try {
      return await this.redis.inTime(this.countInRedis(this.redis, window, limit, 1, hit));
    } catch {
      const record = this.countHere(window, limit);
      hit.countedHere = record.isBlocked ? null : this.now();
      return record;
    }
  }

  /** The next hit's result if this process knows, without asking Redis, that it would be refused; else null. */
  refusal(key: string, limit: number): RateLimitRecord | null {
    const window = this.windows.get(key);
    const room = window && this.room(window, limit);
    return room && room.left <= 0 ? toRecord(limit, room, false) : null;
  }

  private add(key: string, ttl: number): SlidingWindow {
    const window = new SlidingWindow(`rate-limit:${key}`, ttl);
    this.windows.set(key, window);
    return window;
  }

  private now(): number {
    return this.redis?.now() ?? performance.now() / 1000;
  }

  private room(window: SlidingWindow, limit: number): Room {
    return window.room(limit, this.redis?.sharers ?? 1, this.now());
  }

  private countHere(window: SlidingWindow, limit: number): RateLimitRecord {
    if (this.redis?.late) this.metrics.rateLimitFallbacks.inc();
    const { allowed, ...room } = window.hit(limit, this.redis?.sharers ?? 1, this.now());
    return toRecord(limit, room, allowed);
  }

  private async countInRedis(redis: RateLimitRedis, window: SlidingWindow, limit: number, asked: 0 | 1, hit: Hit) {
    const { connection } = redis;
    const reported = window.report(window.connection !== connection);
    window.reporting ||= reported.length > 0;
    try {
      const { allowed, counts } = await redis.hit(window.key, window.kept, limit, asked, reported);
      window.connection = connection;
      window.settle(counts, reported);
      // The hit was counted twice, or refused here and counted there. Redis's count stands.
      if (allowed && hit.countedHere !== undefined) window.count(hit.countedHere ?? this.now(), -1);
      return toRecord(limit, this.room(window, limit), allowed);
    } finally {
      if (reported.length > 0) window.reporting = false;
    }
  }

  /** Reports hits that were allowed without Redis. A hit on a window before its turn includes the window's report. */
  private async report(): Promise<void> {
    const windows = [...this.windows.values()].filter((window) => window.unreported);
    for (let start = 0; start < windows.length; start += REPORTED_AT_ONCE) {
      if (!this.redis || this.redis.late) return;
      const { redis } = this;
      await Promise.allSettled(
        windows.slice(start, start + REPORTED_AT_ONCE).map((window) => this.countInRedis(redis, window, 0, 0, {})),
      );
    }
  }
}

function toRecord(limit: number, { left, resetIn }: Room, allowed: boolean): RateLimitRecord {
  return {
    totalHits: limit - Math.max(0, Math.min(left, limit)),
    timeToExpire: resetIn,
    isBlocked: !allowed,
    timeToBlockExpire: allowed ? 0 : resetIn,
  };
}
