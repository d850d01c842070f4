import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { accessOf } from '../auth/access.decorators.js';
import { ApiError } from '../errors/api-error.js';
import { WINDOW_SECONDS } from './sliding-window.js';

/** So many requests a minute for each key, told in the headers of every answer. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** One limit for every route: none is asked for settings of its own, of which there are ten to look for. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context.getHandler())?.public) return true;
    const [throttler] = this.throttlers;
    const { limit, ttl } = throttler as { limit: number; ttl: number };
    const http = context.switchToHttp();
    const keyId = http.getRequest<Request>().caller?.keyId ?? 'none';
    const hit = await this.storageService.increment(`key:${keyId}`, ttl, limit, ttl, 'default');
    const remaining = Math.max(0, limit - hit.totalHits);
    // X-RateLimit-* for the clients there are, RateLimit for those to come: draft-ietf-httpapi-ratelimit-headers-10.
    http
      .getResponse<Response>()
      .setHeader('X-RateLimit-Limit', limit)
      .setHeader('X-RateLimit-Remaining', remaining)
      .setHeader('X-RateLimit-Reset', hit.timeToExpire)
      .setHeader('RateLimit-Policy', `"default";q=${limit};w=${WINDOW_SECONDS}`)
      .setHeader('RateLimit', `"default";r=${remaining};t=${hit.timeToExpire}`);
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
