import type { ServerResponse } from 'node:http';
import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';

/** Counts each request against the limit of its key. The headers of every response with a key show the limit. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** @throws ApiError 429 if the key has sent too many requests */
  async count(keyId: string, response: ServerResponse): Promise<void> {
    const { limit, ttl, name } = this.throttlers[0] as { limit: number; ttl: number; name: string };
    const record = await this.storageService.increment(`key:${keyId}`, ttl, limit, ttl, name);
    const { totalHits, timeToExpire, isBlocked } = record;
    const remaining = limit - totalHits;
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', remaining);
    response.setHeader('X-RateLimit-Reset', timeToExpire);
    // X-RateLimit-* for existing clients, these for future ones: draft-ietf-httpapi-ratelimit-headers-10.
    response.setHeader('RateLimit-Policy', `"${name}";q=${limit};w=${ttl / 1_000}`);
    response.setHeader('RateLimit', `"${name}";r=${remaining};t=${timeToExpire}`);
    if (isBlocked) throw tooMany(`This API key can send at most ${limit} requests a minute.`, limit, timeToExpire);
  }

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(callerOf(context) === undefined);
  }

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    await this.count(callerOf(context)!.keyId, context.switchToHttp().getResponse<ServerResponse>());
    return true;
  }
}

/** Public routes have no caller. */
function callerOf(context: ExecutionContext) {
  return context.switchToHttp().getRequest<Request>().caller;
}

/** @param retryAfter seconds after which a request will succeed */
export function tooMany(rule: string, limit: number, retryAfter: number): ApiError {
  const [details, headers] = [{ limit, retry_after: retryAfter }, { 'Retry-After': String(retryAfter) }];
  return new ApiError('rate_limit_exceeded', `${rule} Try again in ${retryAfter} s.`, details, headers);
}
