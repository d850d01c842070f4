import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { accessOf } from '../auth/access.decorators.js';
import { ApiError } from '../errors/api-error.js';
import { WINDOW_SECONDS } from './sliding-window.js';

/** So many requests a minute for each key, told in the headers of every answer. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(accessOf(context.getHandler())?.public === true);
  }

  protected override async handleRequest({ context, limit, ttl }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const keyId = http.getRequest<Request>().caller?.keyId ?? 'none';
    const hit = await this.storageService.increment(`key:${keyId}`, ttl, limit, ttl, 'default');
    const remaining = Math.max(0, limit - hit.totalHits);
    // X-RateLimit-* for the clients there are, RateLimit for those to come: draft-ietf-httpapi-ratelimit-headers-10.
    http.getResponse<Response>().set({
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(hit.timeToExpire),
      'RateLimit-Policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
      RateLimit: `"default";r=${remaining};t=${hit.timeToExpire}`,
    });
    if (hit.isBlocked) throw tooMany(`This API key may send ${limit} requests a minute.`, limit, hit.timeToBlockExpire);
    return true;
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
