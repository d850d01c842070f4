import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@app/logging';
import { accessLog, isQuiet, milliseconds } from '@app/serving';
import type { Metrics } from '../metrics/metrics.js';
import type { RequestLog } from '../request-log/request-log.js';
import { templateOf } from '../request-log/route-template.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The request's key, if a look-up found it valid, now or recently. */
    knownKey?: KeyIds;
  }
}

/** A key and its organization. */
export interface KeyIds {
  keyId: string;
  organizationId: string;
}

/** Writes a log line, a measurement, and a row in the organization's request log for each request. */
export function recordRequests(
  log: Log,
  metrics: Metrics,
  requestLog: RequestLog,
): (request: IncomingMessage, response: ServerResponse) => void {
  return accessLog(log, (request, outcome) => {
    const { id, method, caller, knownKey } = request;
    const { route, status, seconds } = outcome;
    metrics.requests.observe({ method, route: route ?? 'none', status }, seconds);
    // After a 401, the key no longer belongs to anybody.
    const { keyId, organizationId } = caller ?? (status === 401 ? undefined : knownKey) ?? {};
    if (keyId && !isQuiet(outcome)) {
      requestLog.note({
        keyId,
        method,
        route: route && templateOf(route),
        status,
        ms: milliseconds(outcome),
        requestId: id,
      });
    }
    return { key_id: keyId, organization_id: organizationId };
  });
}
