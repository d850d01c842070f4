import { once } from 'node:events';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { Redis } from 'ioredis';
import { Env } from '@app/config';
import { Metrics } from '../metrics/metrics.js';
import { Log } from '@app/logging';
import { type Hit, SECONDS_KEPT, SlidingWindows } from './sliding-window.js';

/** The sliding window in one call, on Redis' own clock: a hash of seconds and their hits. */
const HIT = `
local now = redis.call('TIME')
local second = tonumber(now[1])
local counts = redis.call('HGETALL', KEYS[1])
local kept, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local used, oldest = 0, second
for i = 1, #counts, 2 do
  local at = tonumber(counts[i])
  -- Later than now: counted before the clock was set back. It would lock out until the clock caught up.
  if at <= second - kept or at > second then
    redis.call('HDEL', KEYS[1], counts[i])
  else
    used = used + tonumber(counts[i + 1])
    if at < oldest then oldest = at end
  end
end
local allowed = 0
if used < limit then
  redis.call('HINCRBY', KEYS[1], second, 1)
  redis.call('EXPIRE', KEYS[1], kept)
  used = used + 1
  allowed = 1
end
return { allowed, used, oldest + kept - second }
`;

/** A request never waits longer than this for Redis (ms). */
const REDIS_PATIENCE = 50;
/** After this nobody waits for an answer any more, and it is forgotten (ms). */
const REDIS_GIVES_UP = 1_000;
/** After a fault, requests are counted locally for this long before Redis is asked again (ms). */
const REDIS_PAUSE = 1_000;

/** A process that starts waits for Redis no longer than this (ms). */
const REDIS_START = 2_000;

type RedisWithHit = Redis & { hit(key: string, kept: number, limit: number): Promise<[number, number, number]> };

/**
 * Counts requests, in Redis where there is one (shared by all processes), else in this process. With Redis away it
 * falls back to this process and says so in the log.
 */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage, OnModuleInit, OnApplicationShutdown {
  private readonly local = new SlidingWindows();
  private readonly redis: RedisWithHit | null;
  private askRedisAfter = 0;
  private away = false;

  constructor(
    env: Env,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    const url = env.get('REDIS_URL');
    this.redis = url ? connect(url) : null;
  }

  /** The first requests count in Redis too, if it answers soon; if not, the process starts without it. */
  async onModuleInit(): Promise<void> {
    if (!this.redis || this.redis.status === 'ready') return;
    const ready = once(this.redis, 'ready', { signal: AbortSignal.timeout(REDIS_START) });
    await ready.catch(() => undefined);
  }

  async hit(key: string, limit: number): Promise<Hit> {
    if (!this.redis || Date.now() < this.askRedisAfter) return this.hitLocally(key, limit);
    try {
      const [allowed, used, resetIn] = await inTime(this.redis.hit(`rate-limit:${key}`, SECONDS_KEPT, limit));
      if (this.away) this.log.warn('Redis answers again: rate limits are shared', RateLimitStorage.name);
      this.away = false;
      return { allowed: allowed === 1, used, resetIn };
    } catch {
      if (!this.away) this.log.warn('Redis does not answer: rate limits are per process', RateLimitStorage.name);
      this.away = true;
      this.askRedisAfter = Date.now() + REDIS_PAUSE;
      return this.hitLocally(key, limit);
    }
  }

  /** For readiness: whether the limits are shared. */
  get redisState(): 'off' | 'up' | 'away' {
    if (!this.redis) return 'off';
    return this.away || this.redis.status !== 'ready' ? 'away' : 'up';
  }

  /** The throttler's own form of {@link hit}; its windows are all a minute. */
  async increment(key: string, _ttl: number, limit: number) {
    const { allowed, used, resetIn } = await this.hit(key, limit);
    return { totalHits: used, timeToExpire: resetIn, isBlocked: !allowed, timeToBlockExpire: allowed ? 0 : resetIn };
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  private hitLocally(key: string, limit: number): Hit {
    if (this.redis) this.metrics.rateLimitFallbacks.inc();
    return this.local.hit(key, limit);
  }
}

/**
 * Rejects when there is no answer in time. The clock alone does not tell: if it was this process that was held up, the
 * answer has come and was not read yet, so sockets are read once more before Redis is blamed.
 */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, new Error('Redis is late')), REDIS_PATIENCE);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

function connect(url: string): RedisWithHit {
  const redis = new Redis(url, {
    connectTimeout: 1_000,
    commandTimeout: REDIS_GIVES_UP,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 200, REDIS_PAUSE),
  });
  // Each command reports its own failure; without a listener the process would end here.
  redis.on('error', () => undefined);
  redis.defineCommand('hit', { numberOfKeys: 1, lua: HIT });
  return redis as RedisWithHit;
}
