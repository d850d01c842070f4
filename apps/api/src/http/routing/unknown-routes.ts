import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Authentication } from '../auth/authentication.js';
import { ApiError } from '../errors/api-error.js';
import { AuthFailureLimit } from '../rate-limit/auth-failure-limit.js';
import { RateLimitGuard } from '../rate-limit/rate-limit.guard.js';
import { RouteTable } from './route-table.js';

/** Refuses requests without a route: 405 or 404. No key is required, but requests with one count towards its limit. */
@Injectable()
export class UnknownRoutes {
  constructor(
    private readonly routes: RouteTable,
    private readonly authentication: Authentication,
    private readonly limit: RateLimitGuard,
    private readonly failures: AuthFailureLimit,
  ) {}

  /** Returns the refusal; 429 if the request's key is over its limit. @param readable whether the path could be decoded; else 404 */
  async refuse(request: Request, response: Response, readable: boolean): Promise<ApiError> {
    if (request.caller === undefined && request.headers.authorization) {
      try {
        response.setHeader('Cache-Control', 'no-store');
        request.caller = await this.authentication.identify(request);
        await this.limit.count(request.caller.keyId, response);
      } catch (error) {
        if (error instanceof ApiError && response.hasHeader('X-RateLimit-Limit')) return error;
        // An invalid key is ignored, but counts.
        if (error instanceof ApiError && error.status === 401)
          await this.failures.count(request).catch(() => undefined);
      }
    }
    if (!readable) return ApiError.notFound();
    const methods = this.routes.methodsAt(request.path);
    if (methods.length === 0) return new ApiError('not_found', 'There is nothing at this path.');
    const allowed = methods.join(', ');
    const message = `This path does not support ${request.method}. It supports ${allowed}.`;
    return new ApiError('method_not_allowed', message, { allowed: methods }, { Allow: allowed });
  }
}
