import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { Env } from '@app/config';
import { clientAddress } from '@app/serving';
import type { ApiError } from '../errors/api-error.js';
import { tooMany } from './key-limit.js';
import { type RateLimitRecord, RateLimitStorage } from './rate-limit.storage.js';
import { MINUTE_MS } from './sliding-window.js';

/**
 * Limits failed authentications per minute and address. Refuses only failures: a valid key behind the same address (a
 * school's gateway with one misconfigured script) keeps working.
 */
@Injectable()
export class AuthFailureLimit {
  private readonly limit: number;
  private readonly behindProxy: boolean;

  constructor(
    private readonly storage: RateLimitStorage,
    env: Env,
  ) {
    this.limit = env.get('AUTH_FAILURES_PER_MINUTE');
    this.behindProxy = env.get('TRUST_PROXY');
  }

  /** @throws ApiError 429 if the request's address has failed too often */
  async count(request: IncomingMessage): Promise<void> {
    const record = await this.storage.increment(`address:${this.addressOf(request)}`, MINUTE_MS, this.limit);
    if (record.isBlocked) throw this.refusalBy(record);
  }

  /** The same refusal if this process knows, without asking Redis, that the address has failed too often; else null. */
  refusal(address: string): ApiError | null {
    const record = this.storage.refusal(`address:${address}`, this.limit);
    return record && this.refusalBy(record);
  }

  /** The address that a request counts towards. An IPv6 subscriber's /64 is one address. */
  addressOf(request: IncomingMessage): string {
    return normalizeIp(clientAddress(request, this.behindProxy));
  }

  private refusalBy({ timeToBlockExpire }: RateLimitRecord): ApiError {
    const rule = `One address can fail to authenticate at most ${this.limit} times a minute.`;
    return tooMany(rule, this.limit, timeToBlockExpire);
  }
}
