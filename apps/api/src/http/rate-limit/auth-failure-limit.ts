import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';
import { clientAddress, networkOf } from '@app/serving';
import { tooMany } from './rate-limit.guard.js';
import { MINUTE, RateLimitStorage } from './rate-limit.storage.js';

/** Limits failed authentications per minute and network. A valid key behind the same address always works. */
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

  /** @throws ApiError 429 if the request's network has failed too often */
  async count(request: IncomingMessage): Promise<void> {
    const network = networkOf(clientAddress(request, this.behindProxy));
    const { isBlocked, timeToExpire } = await this.storage.increment(`address:${network}`, MINUTE, this.limit);
    if (!isBlocked) return;
    const rule = `One address can fail to authenticate at most ${this.limit} times a minute.`;
    throw tooMany(rule, this.limit, timeToExpire);
  }
}
