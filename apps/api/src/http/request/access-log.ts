import type { NextFunction, Request, Response } from 'express';
import type { Metrics } from '../metrics/metrics.js';
import type { Log } from '@app/logging';
import { onceClosed } from './once-closed.js';
import { requestId } from './request-id.js';

declare module 'express-serve-static-core' {
  interface Request {
    id: string;
  }
}

/** Probes and scrapes come every few seconds and say nothing: they are counted, not logged. */
const QUIET = new Set(['/health/live', '/health/ready', '/metrics']);

/** One line and one measurement for each request: the route's template, never the URL, which may hold personal data. */
export function accessLog(log: Log, metrics: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = process.hrtime.bigint();
    request.id = requestId(request, response);
    onceClosed(response, () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      // 499: the client left before the end of its answer. A large one may also fail on our side when half of it is out.
      const status = response.writableFinished || response.statusCode >= 500 ? response.statusCode : 499;
      metrics.requests.observe({ method: request.method, route, status }, seconds);
      if (QUIET.has(route)) return;
      log.access({
        request_id: request.id,
        key_id: request.caller?.keyId,
        organization_id: request.caller?.organizationId,
        method: request.method,
        route,
        status,
        ms: Math.round(seconds * 1e5) / 100,
      });
    });
    next();
  };
}
