import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { Env } from '@app/config';
import { tooMany } from './key-limit.js';
import { RateLimitStorage } from './rate-limit.storage.js';
import { MINUTE_MS } from './sliding-window.js';

/**
 * Failed authentications a minute of one address. Only failures are refused: a valid key behind the same address (a
 * school's gateway with one misconfigured script) goes on working.
 */
@Injectable()
export class AuthFailureLimit {
  private readonly limit: number;

  constructor(
    private readonly storage: RateLimitStorage,
    env: Env,
  ) {
    this.limit = env.get('AUTH_FAILURES_PER_MINUTE');
  }

  /** @throws ApiError 429 when this address has failed too often */
  async count(address: string): Promise<void> {
    const { isBlocked, timeToBlockExpire } = await this.storage.increment(`address:${address}`, MINUTE_MS, this.limit);
    if (isBlocked) {
      throw tooMany(
        `One address may fail to authenticate ${this.limit} times a minute.`,
        this.limit,
        timeToBlockExpire,
      );
    }
  }

  /** Whether this process knows that the address has failed too often. */
  isReached(address: string): boolean {
    return this.storage.isFull(`address:${address}`, this.limit);
  }
}

/** Where a request comes from, as far as limits are concerned: the /64 of an IPv6 subscriber is one address. */
export function addressOf(request: Request): string {
  return normalizeIp(request.ip ?? 'unknown');
}
