import { setTimeout as sleep } from 'node:timers/promises';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { inTime } from '@app/concurrency';
import type { Env } from '@app/config';
import type { Log } from '@app/logging';
import type { Metrics } from '../metrics/metrics.js';
import { type Answer, HIT, SlidingWindow } from './sliding-window.js';

/** The length of every limit's window (ms). */
export const MINUTE = 60_000;
/** Beyond this number, the least recently used is dropped: an attacker with many addresses must not fill the memory. */
const MOST_WINDOWS = 100_000;
/** The longest that a request waits for Redis (ms). A Redis in the same network answers within 1 ms. */
const PATIENCE = 50;
/** The longest that a starting process waits for Redis (ms). */
const START = 2_000;
/** The pause after a probe that was not answered in time (ms). */
const PROBE_INTERVAL = 250;
/** A hit that always writes, because Redis may be read-only or full. */
const PROBE = ['probe', 1, 1_000_000] as const;

/** Counts hits in sliding windows: in Redis, if there is one. While it does not answer in time, each process counts by itself. */
export class RateLimitStorage implements ThrottlerStorage, OnModuleInit, OnApplicationShutdown {
  private readonly windows = new LRUCache<string, SlidingWindow>({ max: MOST_WINDOWS });
  private redis: (Redis & { hit?: (key: string, ttl: number, limit: number) => Promise<Answer> }) | null = null;
  private shared = false;

  constructor(
    private readonly env: Env,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    const url = this.env.get('REDIS_URL');
    if (!url) return;
    // Without Redis, its client takes no memory.
    const { Redis } = await import('ioredis');
    this.redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: 1_000,
      // After this silence the connection is dead, although nobody closed it.
      socketTimeout: 5_000,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => PROBE_INTERVAL,
      scripts: { hit: { numberOfKeys: 1, lua: HIT } },
    });
    // Each command reports its own failure. Without a listener, the error would end the process.
    this.redis.on('error', () => undefined);
    await inTime(this.redis.connect(), START);
    this.shared = true;
    await this.ask(...PROBE);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
    this.redis = null;
  }

  /** For readiness: whether the limits are shared. */
  get redisState(): 'off' | 'up' | 'away' {
    if (!this.redis) return 'off';
    return this.shared ? 'up' : 'away';
  }

  /** Counts a hit unless the limit of the last `ttl` milliseconds is reached; refused hits do not count. */
  async increment(key: string, ttl: number, limit: number): ReturnType<ThrottlerStorage['increment']> {
    const now = Math.floor(performance.now());
    let window = this.windows.get(key);
    if (!window) this.windows.set(key, (window = new SlidingWindow()));
    let answer = window.refusal(now);
    if (!answer) {
      // A late Redis counts the hit, too, although nobody waits for the answer.
      const asked = this.redis && this.ask(key, ttl, limit);
      const shared = this.shared ? await asked : null;
      if (this.redis && !shared) this.metrics.rateLimitFallbacks.inc();
      answer = window.hit(now, ttl, limit, shared);
    }
    const [isAllowed, left, wait] = answer;
    const seconds = Math.ceil(wait / 1_000);
    return { totalHits: limit - left, timeToExpire: seconds, isBlocked: !isAllowed, timeToBlockExpire: seconds };
  }

  /** Redis's answer. Without one in time, returns null, and nobody waits for Redis again until it answers a probe. */
  private async ask(key: string, ttl: number, limit: number): Promise<Answer | null> {
    const isConnected = this.redis?.status === 'ready';
    const answer = isConnected ? await inTime(this.redis?.hit?.(`rate-limit:${key}`, ttl, limit), PATIENCE) : null;
    if (!answer && this.shared) void this.recover();
    return answer;
  }

  private async recover(): Promise<void> {
    this.shared = false;
    for (let failed = 0; this.redis && !this.shared; failed++) {
      // One late answer is not worth a line in the log, nor a pause.
      if (failed === 1) this.log.warn('Redis does not respond: rate limits are per process', RateLimitStorage.name);
      if (failed > 0) await sleep(PROBE_INTERVAL, undefined, { ref: false });
      this.shared = (await this.ask(...PROBE)) !== null;
      if (this.shared && failed > 0)
        this.log.warn('Redis responds again: rate limits are shared', RateLimitStorage.name);
    }
  }
}
