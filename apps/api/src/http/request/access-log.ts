import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Metrics } from '../metrics/metrics.js';
import type { RequestLog } from '../request-log/request-log.js';
import { templateOf } from '../request-log/route-template.js';
import type { Log } from '@app/logging';
import { onceClosed } from './once-closed.js';
import { requestId } from './request-id.js';

declare module 'express-serve-static-core' {
  interface Request {
    id: string;
    /** Whose key it has, as far as a look-up found it valid, now or lately. */
    knownKey?: KeyIds;
  }
}

/** A key and its organization. */
export interface KeyIds {
  keyId: string;
  organizationId: string;
}

/** Probes and scrapes come every few seconds and say nothing: they are counted, not logged. */
const QUIET = new Set(['/health/live', '/health/ready', '/metrics']);

/**
 * One line and one measurement for each request, and a row in the request log of its key: the route's template, never the URL,
 * which may hold personal data.
 */
export function accessLog(log: Log, metrics: Metrics, requestLog: RequestLog) {
  // Express makes of each a Request later.
  return (message: IncomingMessage, response: ServerResponse): void => {
    const request = message as unknown as Request;
    const started = process.hrtime.bigint();
    request.id = requestId(request, response);
    onceClosed(response, () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const { path } = (request.route ?? {}) as { path?: string };
      const route = path ?? 'none';
      // 499: the client left before the end of its answer. A large one may also fail on our side when half of it is out.
      const status = response.writableFinished || response.statusCode >= 500 ? response.statusCode : 499;
      metrics.requests.observe({ method: request.method, route, status }, seconds);
      if (QUIET.has(route)) return;
      const { id, method, caller, knownKey } = request;
      const ms = Math.round(seconds * 1e5) / 100;
      // With 401 the key is no longer anybody's.
      const { keyId, organizationId } = caller ?? (status === 401 ? undefined : knownKey) ?? {};
      log.access({
        request_id: id,
        key_id: keyId,
        organization_id: organizationId,
        method,
        route,
        status,
        ms,
      });
      if (keyId) requestLog.note({ keyId, method, route: path ? templateOf(path) : null, status, ms, requestId: id });
    });
  };
}
