import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own request id where it is usable, else a new one; on every response. */
export function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && USABLE.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  return id;
}
