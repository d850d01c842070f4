import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { UnknownRoutes } from './routing/unknown-routes.js';
import { Log } from '@app/logging';
import { Refused } from '@app/rules';
import { beforeRefusal, ClientLeft, isRefusal, statusOf } from '@app/serving';
import { Authentication } from './auth/authentication.js';
import { AuthFailureLimit } from './rate-limit/auth-failure-limit.js';
import { attemptOf, isWrite } from './request/attempt.js';
import { Metrics } from './metrics/metrics.js';
import { Audit } from './writes/audit.js';
import { ApiError, Overloaded, Unnoted } from './errors/api-error.js';
import { fromDatabase } from './errors/database-errors.js';
import { errorBody } from './errors/error-formats.js';
import { fromRefused } from './errors/refusals.js';
import { operationOf } from './openapi/operation.decorator.js';
import { RouteTable } from './routing/route-table.js';

/** Turns any exception into one of the contract's error bodies. Exposes nothing internal except the request id. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    private readonly unknownRoutes: UnknownRoutes,
    private readonly authentication: Authentication,
    private readonly failures: AuthFailureLimit,
    private readonly metrics: Metrics,
    private readonly log: Log,
    private readonly audit: Audit,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (thrown instanceof ClientLeft) return;
    const error = await this.afterProof(await this.toApiError(thrown, request, response), request);
    if (error.status >= 500 && !(error instanceof Unnoted)) this.log.failure(thrown, request.id, error.code);
    if (error.status < 500) await this.auditRefusal(request, error);
    if (isRefusal(error.status) && !response.headersSent) {
      if (error instanceof Overloaded) this.metrics.refused.inc();
      request.turn?.release();
      await beforeRefusal();
    }
    if (response.headersSent) {
      // Close the connection, so that no client mistakes half a response for a complete one. The status is for the log.
      response.statusCode = error.status;
      response.destroy();
    } else {
      response.set(error.headers).status(error.status).json(errorBody(error));
    }
    // The database may be what failed: don't make the client wait for it again.
    if (error.status >= 500) await this.auditRefusal(request, error);
  }

  /** Whether the caller may learn of an error at all comes first: 401, or 429 after too many of them from one address. */
  private async afterProof(error: ApiError, request: Request): Promise<ApiError> {
    try {
      if (error.status !== 503) await this.authentication.prove(request);
      if (error.status === 401) await this.failures.count(request);
      return error;
    } catch (thrown) {
      const first = thrown instanceof ApiError ? thrown : (fromDatabase(thrown) ?? internal(request));
      return first.status === 401 ? this.afterProof(first, request) : first;
    }
  }

  /** Refused writes are audited too, unless they were refused to save work. */
  private async auditRefusal(request: Request, error: ApiError): Promise<void> {
    const admitted = error.status !== 429 && !(error instanceof Unnoted);
    const attempt = isWrite(request.method) && admitted ? attemptOf(request) : null;
    if (!attempt) return;
    try {
      await this.audit.recordRefusal(attempt, error.status, error.code);
    } catch (failure) {
      this.log.failure(failure, request.id, 'refusal_not_audited');
    }
  }

  private refused(refused: Refused, { method, path, params }: Request): ApiError | null {
    const handler = this.routes.match(method, path)?.handler;
    return fromRefused(refused, (handler && operationOf(handler)?.conflicts) ?? [], params);
  }

  private async toApiError(thrown: unknown, request: Request, response: Response): Promise<ApiError> {
    if (thrown instanceof ApiError) return thrown;
    if (thrown instanceof Refused) return this.refused(thrown, request) ?? internal(request);
    const status = statusOf(thrown);
    // Express answers a path that cannot be decoded with 400.
    if (status === 404 || status === 400) return this.unknownRoutes.refuse(request, response, status === 404);
    if (status === 413) return new ApiError('payload_too_large', 'The request body is too large.');
    return fromDatabase(thrown) ?? internal(request);
  }
}

function internal({ id }: Request): ApiError {
  return new ApiError('internal_error', `Something went wrong on our side. Request id: ${id}.`);
}
