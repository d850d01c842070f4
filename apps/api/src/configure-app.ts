import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';
import {
  Admission,
  createExpress,
  EarlyRefusals,
  headersSetBy,
  type HttpFault,
  httpFaultOf,
  protectServer,
  SLOW_CLIENT_LIMITS,
} from '@app/serving';
import { FullCapacity } from './http/auth/full-capacity.js';
import { KeyLookUps } from './http/auth/key-look-ups.js';
import { type ApiError, Overloaded } from './http/errors/api-error.js';
import { fromHttp, refusalOf } from './http/errors/error-formats.js';
import { Metrics } from './http/metrics/metrics.js';
import { serveDocs } from './http/openapi/docs.js';
import { recordRequests } from './http/request/access-log.js';
import { RequestLog } from './http/request-log/request-log.js';
import { RouteTable, type Target } from './http/routing/route-table.js';
import { parseQuery } from './http/validation/query-parser.js';
import { JsonStream } from './http/views/json-stream.js';
import { serveMedia } from './media/serve-media.js';

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
    response.setHeader('Content-Length', Buffer.byteLength(body));
    return response.end(body);
  }
}

/** Express that accepts one spelling for each path, with our own query parser. */
export function createAdapter(): ExpressAdapter {
  const server = createExpress();
  server.enable('case sensitive routing');
  server.enable('strict routing');
  server.set('query parser', parseQuery);
  return new JsonTextAdapter(server);
}

/** Configures everything that modules cannot. Called by main.ts and by tests. */
export function configureApp(app: NestExpressApplication, slowClients = SLOW_CLIENT_LIMITS): void {
  const env = app.get(Env);
  app.useLogger(app.get(Log));
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  app.use(SECURITY_HEADERS);
  const origins = env.get('CORS_ORIGINS');
  app.enableCors({ origin: origins.includes('*') ? '*' : origins, exposedHeaders: EXPOSED, maxAge: 600 });
  const routes = app.get(RouteTable);
  const overloaded = refusalsOfLoad(app.get(Metrics));
  const admission = app.get(Admission);
  const early = new EarlyRefusals<ApiError, Target>({
    begin: recordRequests(app.get(Log), app.get(Metrics), app.get(RequestLog)),
    checks: [
      (request, response) => fromFault(httpFaultOf(request, response)),
      app.get(KeyLookUps).refusal,
      app.get(FullCapacity).refusal,
      (request, response) => (admission.admit(request, response) ? null : overloaded()),
    ],
    match: (method, path) => routes.match(method, path),
    render: refusalOf,
    usualHeaders: {
      ...(origins.includes('*') ? { 'Access-Control-Allow-Origin': '*' } : { Vary: 'Origin' }),
      'Access-Control-Expose-Headers': EXPOSED.join(','),
      ...headersSetBy(SECURITY_HEADERS as never),
    },
  });
  // Responses to cross-origin pages need CORS headers, so these requests are checked after Express's CORS.
  const isOfPage = ({ headers }: IncomingMessage) => headers.origin !== undefined;
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (!isOfPage(request) || early.passes(request, response)) next();
  });
  const admits = (request: IncomingMessage, response: ServerResponse): boolean => {
    early.begin(request, response);
    return isOfPage(request) || early.passes(request, response);
  };
  serveDocs(app);
  serveMedia(app);
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  const server: Server = app.getHttpServer();
  const render = (fault: HttpFault) => refusalOf(fromHttp(fault));
  protectServer(server, { log: app.get(Log), early, admits, overloaded, render, slowClients });
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  server.prependListener('request', (request) => Object.assign(request, { deadline: new Deadline(patience) }));
}

const fromFault = (fault: HttpFault | null) => fault && fromHttp(fault);

/** Returns the fault for overload, and counts each request refused with it. */
function refusalsOfLoad({ refused }: Metrics): () => Overloaded {
  const refusal = new Overloaded(1);
  return () => {
    refused.inc();
    return refusal;
  };
}
