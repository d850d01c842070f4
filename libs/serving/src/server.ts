import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Log } from '@app/logging';
import { releasePlace } from './admission.js';
import { joinChunks } from './chunks.js';
import { answerClientErrors } from './client-errors.js';
import { holdContinue } from './continue.js';
import { drainOnClose } from './drain.js';
import type { EarlyRefusals } from './early-refusals.js';
import { serveInTurn } from './in-turn.js';
import { closeUnread, holdBody } from './lingering-close.js';
import { admitMalformed } from './malformed.js';
import type { HttpFault, Refusal } from './refusal.js';
import { cutSlowClients, type SlowClientLimits } from './slow-clients.js';

/**
 * Longer than the idle timeout of common proxies (60 s), so that the server never closes a connection that the proxy is
 * about to use.
 */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** Express without its own ETags. When a response begins, its place is released and its unread body is dealt with. */
export function createExpress(): Express {
  const server = express();
  server.disable('x-powered-by');
  server.disable('etag');
  server.response.writeHead = function (this: Response, ...head: [number]) {
    releasePlace(this.req);
    closeUnread(this.req, this);
    ServerResponse.prototype.writeHead.apply(this, head);
    return this;
  };
  return server;
}

/** How a server protects itself from its clients. */
export interface Protection<Fault, Route extends { path: string }> {
  log: Log;
  early: EarlyRefusals<Fault, Route>;
  /** Whether to serve a request when its turn comes; answers it otherwise. */
  admits: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The fault of a request that exceeds the capacity. */
  overloaded: () => Fault;
  /** The response to input that is not a valid request. */
  render: (fault: HttpFault) => Refusal;
  slowClients: SlowClientLimits;
}

/**
 * Protects a server's clients from one that is slow, floods it or violates HTTP, and lets the server end cleanly. Call
 * it after everything that answers requests has registered its listeners.
 */
export function protectServer<Fault, Route extends { path: string }>(
  server: Server,
  protection: Protection<Fault, Route>,
): void {
  const { log, early, admits, overloaded, render, slowClients } = protection;
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    early.refuseUnseen(request, response, overloaded());
  };
  const holdAndAdmit = (request: IncomingMessage, response: ServerResponse) => {
    holdBody(request);
    return admits(request, response);
  };
  serveInTurn(server, holdAndAdmit, refuse, (request, response) => {
    early.begin(request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  answerClientErrors(server, log, render);
  admitMalformed(server);
  holdContinue(server);
  joinChunks(server);
  cutSlowClients(server, slowClients);
  drainOnClose(server);
}

/** The headers that a middleware sets on every response. */
export function headersSetBy(
  ...middleware: ((request: Request, response: Response, next: NextFunction) => void)[]
): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer = { setHeader: (name: string, value: string) => (headers[name] = value), removeHeader: () => undefined };
  for (const one of middleware) one({} as never, answer as never, () => undefined);
  return headers;
}
