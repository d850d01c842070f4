import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { ApiError } from '../errors/api-error.js';
import { type RateLimitRecord, RateLimitStorage } from './rate-limit.storage.js';
import { MINUTE_MS } from './sliding-window.js';

/** Limits requests per minute and API key. The headers of every response show the limit. */
@Injectable()
export class KeyLimit {
  private readonly limit: number;

  constructor(
    private readonly storage: RateLimitStorage,
    env: Env,
  ) {
    this.limit = env.get('RATE_LIMIT_PER_MINUTE');
  }

  /** @throws ApiError 429 if the key has sent too many requests */
  async count(keyId: string, response: ServerResponse): Promise<void> {
    const record = await this.storage.increment(`key:${keyId}`, MINUTE_MS, this.limit);
    for (const [name, value] of Object.entries(this.headersOf(record))) response.setHeader(name, value);
    if (record.isBlocked) throw this.refusalBy(record);
  }

  /** Counts a request that is refused for another reason. Nothing waits for the result. */
  note(keyId: string): void {
    this.storage.increment(`key:${keyId}`, MINUTE_MS, this.limit).catch(() => undefined);
  }

  /** The same refusal if this process knows, without asking Redis, that the key is over its limit; else null. */
  refusal(keyId: string): ApiError | null {
    const record = this.storage.refusal(`key:${keyId}`, this.limit);
    return record && this.refusalBy(record);
  }

  private refusalBy(record: RateLimitRecord): ApiError {
    const rule = `This API key can send at most ${this.limit} requests a minute.`;
    return tooMany(rule, this.limit, record.timeToBlockExpire, this.headersOf(record));
  }

  /** X-RateLimit-* for existing clients, RateLimit for future ones: draft-ietf-httpapi-ratelimit-headers-10. */
  private headersOf({ totalHits, timeToExpire }: RateLimitRecord): Record<string, string> {
    const { limit } = this;
    const remaining = limit - totalHits;
    return {
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(timeToExpire),
      'RateLimit-Policy': `"default";q=${limit};w=${MINUTE_MS / 1000}`,
      RateLimit: `"default";r=${remaining};t=${timeToExpire}`,
    };
  }
}

/** @param retryAfter seconds after which a request will succeed */
export function tooMany(rule: string, limit: number, retryAfter: number, headers: Record<string, string> = {}) {
  return new ApiError(
    'rate_limit_exceeded',
    `${rule} Try again in ${retryAfter} s.`,
    { limit, retry_after: retryAfter },
    { ...headers, 'Retry-After': String(retryAfter) },
  );
}
