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
  if (!host && httpVersion === '1.1') return { status: 400, message: 'A request needs a Host header.' };
  if (host && !isHost(host)) return { status: 400, message: 'The Host header is not a name and port.' };
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return { status: 417, message: 'Only "Expect: 100-continue" is understood.' };
  }
  return null;
}

/** As in RFC 9112: a name or an address, and perhaps a port. A URL also takes a path, a user and spaces. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

const isHost = (host: string): boolean => HOST.test(host) && URL.canParse(`http://${host}`);

/** A path that no route has. */
const NOWHERE = '//';

function withoutOrigin(target: string): string {
  if (!URL.canParse(target)) return NOWHERE;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : NOWHERE;
}
