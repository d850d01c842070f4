import { type RequestListener, type Server, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Response } from 'express';
import helmet from 'helmet';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import { KeyLookUps } from './http/auth/key-look-ups.js';
import { Metrics } from './http/metrics/metrics.js';
import { serveDocs } from './http/openapi/docs.js';
import { Deadline } from '@app/database';
import { accessLog } from './http/request/access-log.js';
import { Admission, releasePlace } from './http/request/admission.js';
import { joinChunks } from './http/request/chunks.js';
import { answerClientErrors } from './http/request/client-errors.js';
import { holdContinue } from './http/request/continue.js';
import { drainOnClose } from './http/request/drain.js';
import { EarlyRefusals } from './http/request/early-refusals.js';
import { serveInTurn } from './http/request/in-turn.js';
import { closeUnread } from './http/request/lingering-close.js';
import { admitMalformed, refusalOfMalformed } from './http/request/malformed.js';
import { cutSlowClients, SLOW_CLIENT_LIMITS, type SlowClientLimits } from './http/request/slow-clients.js';
import { RequestLog } from './http/request-log/request-log.js';
import { RouteTable } from './http/routing/route-table.js';
import { parseQuery } from './http/validation/query-parser.js';
import { JsonStream } from './http/views/json-stream.js';
import { serveMedia } from './media/serve-media.js';
import { REFERENCE_TAGS } from './reference-tags.js';

/**
 * Longer than the idle timeout of common proxies (60 s), so that the server never closes a connection that the proxy is
 * about to use.
 */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** Responses are data: browsers must not execute, frame or sniff them. Obsolete headers are left out. */
const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': "'none'", 'frame-ancestors': "'none'" } },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Response headers that scripts of other origins may read besides the safelisted ones. */
const EXPOSED = [
  'X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy',
  'Retry-After', 'WWW-Authenticate', 'Allow', 'ETag', 'Idempotency-Replayed',
]; // prettier-ignore

/**
 * Sends JSON text as it is, past Express's content negotiation. For a response with an ETag, Express still decides on
 * 304. A large response is streamed.
 */
class JsonTextAdapter extends ExpressAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof JsonStream) return body.sendTo(response.status(status ?? response.statusCode));
    if (typeof body !== 'string' || response.hasHeader('ETag')) return super.reply(response, body, status) as unknown;
    if (status !== undefined) response.statusCode = status;
    const bytes = Buffer.from(body);
    response.setHeader('Content-Length', bytes.length);
    return response.end(bytes);
  }
}

/** Express with one spelling for each path, our own query parser, and no ETags of its own. */
export function createAdapter(): ExpressAdapter {
  const server = express();
  server.enable('case sensitive routing');
  server.enable('strict routing');
  server.disable('x-powered-by');
  server.disable('etag');
  server.set('query parser', parseQuery);
  server.response.writeHead = function (this: Response, ...head: [number]) {
    releasePlace(this.req);
    closeUnread(this.req, this);
    ServerResponse.prototype.writeHead.apply(this, head);
    return this;
  };
  return new JsonTextAdapter(server);
}

/** Configures what is not in the modules. Called by main.ts and by the tests. */
export function configureApp(app: NestExpressApplication, slowClients = SLOW_CLIENT_LIMITS): void {
  const env = app.get(Env);
  app.useLogger(app.get(Log));
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  app.use(SECURITY_HEADERS);
  const origins = env.get('CORS_ORIGINS');
  app.enableCors({ origin: origins.includes('*') ? '*' : origins, exposedHeaders: EXPOSED, maxAge: 600 });
  const admission = app.get(Admission);
  const routes = app.get(RouteTable);
  const early = new EarlyRefusals(
    accessLog(app.get(Log), app.get(Metrics), app.get(RequestLog)),
    [refusalOfMalformed, app.get(KeyLookUps).refusal, admission.refusal],
    (method, path) => routes.match(method, path),
    usualHeaders(origins.includes('*')),
  );
  app.use(early.behindCors);
  serveDocs(app, REFERENCE_TAGS);
  serveMedia(app);
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  const server: Server = app.getHttpServer();
  const tooMany: RequestListener = (request, response) => {
    early.refuseUnseen(request, response, admission.overloaded());
  };
  serveInTurn(server, early.admits, tooMany, early.begin);
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  server.prependListener('request', (request) => Object.assign(request, { deadline: new Deadline(patience) }));
  configureServer(server, app.get(Log), slowClients);
}

/** Those of an answer to a client that is no page of another origin. */
function usualHeaders(anyOrigin: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    ...(anyOrigin ? { 'Access-Control-Allow-Origin': '*' } : { Vary: 'Origin' }),
    'Access-Control-Expose-Headers': EXPOSED.join(','),
  };
  const answer = { setHeader: (name: string, value: string) => (headers[name] = value), removeHeader: () => undefined };
  SECURITY_HEADERS({} as never, answer as never, () => undefined);
  return headers;
}

function configureServer(server: Server, log: Log, slowClients: SlowClientLimits): void {
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  answerClientErrors(server, log);
  admitMalformed(server);
  holdContinue(server);
  joinChunks(server);
  cutSlowClients(server, slowClients);
  drainOnClose(server);
}
