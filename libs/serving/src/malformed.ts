import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { HttpFault } from './refusal.js';

/**
 * Admits requests that Node or Express would answer by themselves, with an empty body or a page and without a log line.
 * {@link httpFaultOf} then refuses them like all others.
 */
export function admitMalformed(server: Server): void {
  // Node reads this property at each request.
  Object.assign(server, { requireHostHeader: false });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // A request as to a proxy, with a full URL. Express cannot read all of those that Node lets through.
  server.prependListener('request', (request: IncomingMessage) => {
    const target = request.url ?? '/';
    if (!target.startsWith('/') && target !== '*') request.url = withoutOrigin(target);
  });
}

/** The way in which a request violates HTTP, if any. The connection ends with the response. */
export function httpFaultOf(request: IncomingMessage, response: ServerResponse): HttpFault | null {
  const fault = faultOf(request);
  if (fault) response.shouldKeepAlive = false;
  return fault;
}

function faultOf({ headers: { host, expect }, httpVersion }: IncomingMessage): HttpFault | null {
  if (host === undefined && httpVersion === '1.1') {
    return { status: 400, message: 'A request needs a Host header.' };
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return { status: 417, message: 'Only "Expect: 100-continue" is understood.' };
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
