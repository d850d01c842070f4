import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** A violation of HTTP itself. Each app has its own words for it. */
export interface HttpFault {
  status: number;
  message: string;
}

/** Admits requests that Node or Express would answer by themselves, without a log line: {@link httpFaultOf} refuses them. */
export function admitMalformed(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // A request with a full URL, as sent to proxies. Express cannot parse all of those that Node lets through.
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

function faultOf(request: IncomingMessage): HttpFault | null {
  const { host, expect } = request.headers;
  const { httpVersion } = request;
  const repeated = repeatedHeader(request);
  if (repeated) return { status: 400, message: `Send the ${repeated} header only once.` };
  if (!host && httpVersion === '1.1') return { status: 400, message: 'The Host header is required.' };
  if (host && !isHost(host))
    return { status: 400, message: 'The Host header must be a host name or address, optionally with a port.' };
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return { status: 417, message: 'The only supported expectation is "Expect: 100-continue".' };
  }
  return null;
}

/** Headers that decide who asks for what. Of two values, Node takes the first, but a proxy may take the last. */
const SINGLE = new Set(['host', 'authorization', 'content-type']);

/** A header that was sent more than once although only one value makes sense; undefined if there is none. */
function repeatedHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  // As many names as lines, which is nearly always the case.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return undefined;
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return names.find((name, index) => SINGLE.has(name) && names.indexOf(name) < index);
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
