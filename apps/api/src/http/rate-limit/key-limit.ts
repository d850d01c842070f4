import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Env } from '@app/config';
import { ApiError } from '../errors/api-error.js';
import { RateLimitStorage } from './rate-limit.storage.js';
import { MINUTE_MS } from './sliding-window.js';

/** Requests a minute of one API key, stated in the headers of every answer. */
@Injectable()
export class KeyLimit {
  private readonly limit: number;

  constructor(
    private readonly storage: RateLimitStorage,
    env: Env,
  ) {
    this.limit = env.get('RATE_LIMIT_PER_MINUTE');
  }

  /**
   * X-RateLimit-* for the clients there are, RateLimit for those to come: draft-ietf-httpapi-ratelimit-headers-10.
   *
   * @throws ApiError 429 when the key has sent too many requests
   */
  async count(keyId: string, response: Response): Promise<void> {
    const { limit } = this;
    const { totalHits, timeToExpire, isBlocked, timeToBlockExpire } = await this.storage.increment(
      `key:${keyId}`,
      MINUTE_MS,
      limit,
    );
    const remaining = limit - totalHits;
    response
      .setHeader('X-RateLimit-Limit', limit)
      .setHeader('X-RateLimit-Remaining', remaining)
      .setHeader('X-RateLimit-Reset', timeToExpire)
      .setHeader('RateLimit-Policy', `"default";q=${limit};w=${MINUTE_MS / 1000}`)
      .setHeader('RateLimit', `"default";r=${remaining};t=${timeToExpire}`);
    if (isBlocked) throw tooMany(`This API key may send ${limit} requests a minute.`, limit, timeToBlockExpire);
  }

  /** Whether this process knows that the key is over its limit. */
  isReached(keyId: string): boolean {
    return this.storage.isFull(`key:${keyId}`, this.limit);
  }
}

/** @param retryAfter seconds; waiting that long is enough */
export function tooMany(rule: string, limit: number, retryAfter: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `${rule} Try again in ${retryAfter} s.`,
    { limit, retry_after: retryAfter },
    { 'Retry-After': String(retryAfter) },
  );
}
