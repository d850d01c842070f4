import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@app/logging';
import { accessLog, isQuiet, milliseconds } from '@app/serving';
import type { Metrics } from '../metrics/metrics.js';
import type { RequestLog } from '../request-log/request-log.js';
import { templateOf } from '../request-log/route-template.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The request's key, if it was valid when last looked up. */
    keyIds?: { keyId: string; organizationId: string };
    /** How long it has waited for something to happen (ms). */
    waited?: number;
  }
}

/** Writes a log line, a measurement, and a row in the organization's request log for each request. */
export function recordRequests(
  log: Log,
  metrics: Metrics,
  requestLog: RequestLog,
  match: (method: string, path: string) => { path: string } | undefined,
): (request: IncomingMessage, response: ServerResponse) => void {
  const finish: Parameters<typeof accessLog>[1] = (request, outcome) => {
    const { id, method, keyIds, waited = 0 } = request;
    const { route, status, seconds } = outcome;
    metrics.requests.observe({ method, route: route ?? 'none', status }, seconds - waited / 1_000);
    if (keyIds && !isQuiet(outcome)) {
      const template = route && templateOf(route);
      requestLog.note({
        keyId: keyIds.keyId,
        method,
        route: template,
        status,
        ms: milliseconds(outcome),
        requestId: id,
      });
    }
    return { key_id: keyIds?.keyId, organization_id: keyIds?.organizationId };
  };
  return accessLog(log, finish, ({ method, path }) => match(method, path)?.path);
}
