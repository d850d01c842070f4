import type { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import type { Metrics } from '../metrics/metrics.js';
import type { Log } from '@app/logging';
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
    onceClosed(request.socket, response, () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
      const status = response.writableFinished ? response.statusCode : 499;
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

/** What is to be told when a connection ends. */
const open = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when the answer is out or can no more be. An answer that waits behind another of its connection never hears
 * that the connection ended, so that is listened to as well: once for each connection, however many requests it carries.
 */
function onceClosed(socket: Socket, response: Response, done: () => void): void {
  let waiting = open.get(socket);
  if (!waiting) {
    const pending = new Set<() => void>();
    socket.once('close', () => {
      for (const end of pending) end();
    });
    open.set(socket, (waiting = pending));
  }
  const end = () => {
    if (waiting.delete(end)) done();
  };
  waiting.add(end);
  response.once('close', end);
}
