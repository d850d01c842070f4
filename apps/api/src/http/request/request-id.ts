import type { IncomingMessage, ServerResponse } from 'node:http';
import { v7 as uuidv7 } from 'uuid';

const USABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own request id where it is usable, else a new one; on every response. */
export function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && USABLE.test(given) ? given : uuidv7();
  response.setHeader('X-Request-Id', id);
  return id;
}
