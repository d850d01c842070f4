import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { HttpFault } from './refusal.js';

/**
 * Requests that Node or Express would answer by themselves, with an empty body or with a page, and without a line in the
 * log: they are let in as far as {@link httpFaultOf}, by which they are refused like everything else.
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

/** What HTTP forbids about a request, if anything. The connection ends with the answer. */
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
