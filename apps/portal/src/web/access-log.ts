import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Log } from '@app/logging';

/** Probes come every few seconds and say nothing. */
const QUIET = new Set(['/health/live', '/health/ready']);

/** One line for each request: the route's template, never the URL, which may hold the secret of a link. */
export function accessLog(log: Log) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = performance.now();
    request.id = randomUUID();
    response.setHeader('X-Request-Id', request.id);
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      if (QUIET.has(route)) return;
      log.access({
        request_id: request.id,
        organization_id: request.membership?.organizationId,
        method: request.method,
        route,
        // 499: the client left before the end of its answer.
        status: response.writableFinished ? response.statusCode : 499,
        ms: Math.round((performance.now() - started) * 100) / 100,
      });
    });
    next();
  };
}
