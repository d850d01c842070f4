import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { KeyLookup } from '@app/accounts';
import { ApiError } from '../errors/api-error.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthFailureLimit } from '../rate-limit/auth-failure-limit.js';
import { accessOf } from './access.decorators.js';
import type { Caller } from './caller.js';
import { keyOf, KeyLookUps } from './key-look-ups.js';
import { KeyUsage } from './key-usage.js';

const EXPIRED = 'API key has expired. Create a new key in your org settings.';

/**
 * Authenticates the caller by API key. Validity is never cached: a revocation takes effect with its commit, on every
 * process.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly keys: KeyLookUps,
    private readonly usage: KeyUsage,
    private readonly failures: AuthFailureLimit,
    private readonly metrics: Metrics,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(context.getHandler())?.public) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    request.caller = await this.identify(request, http.getResponse<Response>());
    return true;
  }

  /** @throws ApiError 401 for a request without a valid key; 429 when the key may not be looked up now */
  async identify(request: Request, response: Response): Promise<Caller> {
    // Responses belong to one organization: no shared cache may store them.
    response.setHeader('Cache-Control', 'no-store');
    try {
      const caller = await this.authenticate(request);
      this.metrics.authentications.inc({ outcome: 'ok' });
      return caller;
    } catch (error) {
      if (error instanceof ApiError) {
        this.metrics.authentications.inc({ outcome: error.code });
        if (error.status === 401) await this.failures.count(request);
      }
      throw error;
    }
  }

  private async authenticate(request: Request): Promise<Caller> {
    const header = request.headers.authorization;
    if (header === undefined || header.trim() === '') {
      throw refusal('missing_api_key', 'Send your API key: "Authorization: Token token=<API_KEY>".');
    }
    const key = await this.keys.find(request);
    if (!key) {
      throw refusal(
        'invalid_api_key',
        keyOf(request) !== null
          ? 'Unknown API key. Check that you copied it completely.'
          : 'The Authorization header must be "Token token=<API_KEY>".',
      );
    }
    if (key.revoked)
      throw refusal('revoked_api_key', 'This API key was revoked. Use another key of your organization.');
    if (key.expired) throw refusal('expired_api_key', EXPIRED);
    if (!key.usedThisMinute) this.usage.note(key.organizationId, key.id);
    return toCaller(key, request);
  }
}

function refusal(code: 'missing_api_key' | 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key', message: string) {
  return new ApiError(code, message, {}, { 'WWW-Authenticate': 'Token' });
}

function toCaller(key: KeyLookup, { route, path, deadline }: Request): Caller {
  return {
    keyId: key.id,
    organizationId: key.organizationId,
    scopes: new Set(key.scopes),
    platformBlog: key.platformBlog,
    route: (route as { path: string } | undefined)?.path ?? path,
    organization: key.organization,
    deadline,
  };
}
