import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error.js';

/**
 * Requests that Node or Express would answer by themselves, with an empty body or with a page, and without a line in the
 * log: they are let in as far as {@link refuseMalformed}, which refuses them like everything else is refused.
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

/** Before any route: what HTTP itself forbids. */
export function refuseMalformed(request: Request, _response: Response, next: NextFunction): void {
  const { host, expect } = request.headers;
  if (host === undefined && request.httpVersion === '1.1') {
    next(new ApiError('bad_request', 'A request needs a Host header.', {}, { Connection: 'close' }));
  } else if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    const error = new ApiError(
      'bad_request',
      'Only "Expect: 100-continue" is understood.',
      {},
      { Connection: 'close' },
    );
    next(Object.assign(error, { status: 417 }));
  } else {
    next();
  }
}

/** A path that no route has. */
const NOWHERE = '//';

function withoutOrigin(target: string): string {
  if (!URL.canParse(target)) return NOWHERE;
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? pathname + search : NOWHERE;
}
