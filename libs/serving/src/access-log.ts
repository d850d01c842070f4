import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { AccessLine, Log } from '@app/logging';
import { onceClosed } from './once-closed.js';

declare module 'express-serve-static-core' {
  interface Request {
    id: string;
  }
}

/** How a request ended. */
export interface Outcome {
  /** The route's template; null for a path without a route. */
  route: string | null;
  status: number;
  seconds: number;
}

/** Probes and scrapes arrive every few seconds and are of no interest. */
const QUIET = new Set(['/health/live', '/health/ready', '/metrics']);

const USABLE_ID = /^[A-Za-z0-9._-]{1,128}$/;

export const milliseconds = ({ seconds }: Outcome): number => Math.round(seconds * 1e5) / 100;

/** Whether a request has no line in the log. */
export const isQuiet = ({ route }: Outcome): boolean => route !== null && QUIET.has(route);

/**
 * Writes one line per request, with the route's template, never the URL, which may contain personal data.
 * @param finish returns whose a request was @param match finds the template before Express has
 */
export function accessLog(
  log: Log,
  finish: (request: Request, outcome: Outcome) => Pick<AccessLine, 'key_id' | 'organization_id'>,
  match?: (request: Request) => string | undefined,
) {
  // Express turns each message into a Request later.
  return (message: IncomingMessage, response: ServerResponse): void => {
    const request = message as unknown as Request;
    const started = process.hrtime.bigint();
    request.id = requestId(request, response);
    onceClosed(response, () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const { path } = (request.route ?? {}) as { path?: string };
      // 499: the client left before the end of its response. A large response may also fail halfway on our side.
      const status = response.writableFinished || response.statusCode >= 500 ? response.statusCode : 499;
      const outcome = { route: path ?? match?.(request) ?? null, status, seconds };
      const { key_id, organization_id } = finish(request, outcome);
      if (isQuiet(outcome)) return;
      const { id, method } = request;
      const route = outcome.route ?? 'none';
      log.access({ request_id: id, key_id, organization_id, method, route, status, ms: milliseconds(outcome) });
    });
  };
}

/** Sets the response's request id: the client's own if usable, else a new one. */
function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  return id;
}
