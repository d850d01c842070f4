import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** Sets the response's request id: the client's own if usable, else a new one. */
export function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && USABLE.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  return id;
}
