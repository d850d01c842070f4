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
import { closeUnread } from './lingering-close.js';
import { admitMalformed } from './malformed.js';
import type { HttpFault, Refusal } from './refusal.js';
import { cutSlowClients, type SlowClientLimits } from './slow-clients.js';

/**
 * Longer than the idle timeout of common proxies (60 s), so that the server never closes a connection that the proxy is
 * about to use.
 */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** Express without ETags of its own. The place of a request is free, and its connection cared for, once its answer begins. */
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

/** How a server keeps itself from its clients. */
export interface Protection<Fault, Route extends { path: string }> {
  log: Log;
  early: EarlyRefusals<Fault, Route>;
  /** Whether a request is let in when its turn comes; answers it otherwise. */
  admits: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Refuses a request that is too much. */
  overloaded: () => Fault;
  /** The answer to what is no request. */
  render: (fault: HttpFault) => Refusal;
  slowClients: SlowClientLimits;
}

/**
 * What a server owes to its other clients when one is slow, floods it, or breaks the rules of HTTP; and how it ends. Called
 * once everything that answers requests listens to them.
 */
export function protectServer<Fault, Route extends { path: string }>(
  server: Server,
  protection: Protection<Fault, Route>,
): void {
  const { log, early, admits, overloaded, render, slowClients } = protection;
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    early.refuseUnseen(request, response, overloaded());
  };
  serveInTurn(server, admits, refuse, (request, response) => {
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

/** The headers that a middleware sets on every answer. */
export function headersSetBy(
  ...middleware: ((request: Request, response: Response, next: NextFunction) => void)[]
): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer = { setHeader: (name: string, value: string) => (headers[name] = value), removeHeader: () => undefined };
  for (const one of middleware) one({} as never, answer as never, () => undefined);
  return headers;
}
