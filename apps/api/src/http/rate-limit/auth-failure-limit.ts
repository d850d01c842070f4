import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { Env } from '@app/config';
import { RateLimitStorage } from './rate-limit.storage.js';
import { tooMany } from './rate-limit.guard.js';

/**
 * Failed authentications of one address. Only failures are refused: a valid key behind the same address (a school's
 * gateway with one misconfigured script) goes on working.
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

  /**
   * A subscriber has a whole IPv6 /64: it counts as one address.
   *
   * @throws ApiError 429 when this address has failed too often
   */
  async count(address: string): Promise<void> {
    const hit = await this.storage.hit(`address:${normalizeIp(address)}`, this.limit);
    if (!hit.allowed)
      throw tooMany(`One address may fail to authenticate ${this.limit} times a minute.`, this.limit, hit.resetIn);
  }
}
