import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ApiError } from '../errors/api-error.js';

/**
 * Requests that Node or Express would answer by themselves, with an empty body or with a page, and without a line in the
 * log: they are let in as far as {@link refusalOfMalformed}, which refuses them like everything else is refused.
 */
export function admitMalformed(server: Server): void {
  // Read by Node at each request.
  Object.assign(server, { requireHostHeader: false });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // As a proxy is asked: with the whole address. Express cannot read each of those that Node lets through.
  server.prependListener('request', (request: IncomingMessage) => {
    const target = request.url ?? '/';
    if (!target.startsWith('/') && target !== '*') request.url = withoutOrigin(target);
  });
}

/** What HTTP itself forbids. */
export function refusalOfMalformed({ headers, httpVersion }: IncomingMessage): ApiError | null {
  const { host, expect } = headers;
  if (host === undefined && httpVersion === '1.1') {
    return new ApiError('bad_request', 'A request needs a Host header.', {}, { Connection: 'close' });
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    const message = 'Only "Expect: 100-continue" is understood.';
    return Object.assign(new ApiError('bad_request', message, {}, { Connection: 'close' }), { status: 417 });
  }
  return null;
}

/** A path that no route has. */
const NOWHERE = '//';

function withoutOrigin(target: string): string {
  if (!URL.canParse(target)) return NOWHERE;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : NOWHERE;
}
