import { NotFoundException } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';
import { answerClientErrors, httpFaultOf, inTurn, securityHeaders, ServingAdapter } from '@app/serving';
import { fromHttp, rawResponse } from './http/errors/error-formats.js';
import { Metrics } from './http/metrics/metrics.js';
import { serveDocs } from './http/openapi/docs.js';
import { recordRequests } from './http/request/access-log.js';
import { Fairness } from './http/request/fairness.js';
import { RequestLog } from './http/request-log/request-log.js';
import { RouteTable } from './http/routing/route-table.js';
import { parseQuery } from './http/validation/query-parser.js';
import { JsonStream } from './http/views/json-stream.js';
import { serveFiles } from './serve-files.js';
import { serveMedia } from './serve-media.js';

/** Responses are data: browsers must not execute, frame or sniff them. */
const SECURITY_HEADERS = securityHeaders({ 'default-src': "'none'", 'frame-ancestors': "'none'" });

/** Response headers that scripts of other origins may read besides the safelisted ones. */
const EXPOSED = [
  'X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy',
  'Retry-After', 'WWW-Authenticate', 'Allow', 'ETag', 'Idempotency-Replayed',
]; // prettier-ignore

/** Sends JSON text as it is, past Express's content negotiation, except with an ETag: Express decides on 304. Streams large responses. */
class JsonTextAdapter extends ServingAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof JsonStream) return body.sendTo(response.status(status ?? response.statusCode));
    if (typeof body !== 'string' || response.hasHeader('ETag')) return super.reply(response, body, status) as unknown;
    if (status !== undefined) response.statusCode = status;
    response.setHeader('Content-Length', Buffer.byteLength(body));
    return response.end(body);
  }
}

/** Express that accepts one spelling for each path, with our own query parser. */
export function createAdapter(): ServingAdapter {
  return new JsonTextAdapter({
    'case sensitive routing': true,
    'strict routing': true,
    'query parser': parseQuery,
  });
}

/** Configures everything that modules cannot. Called by main.ts and by tests. */
export function configureApp(app: NestExpressApplication): void {
  const [env, log, routes] = [app.get(Env), app.get(Log), app.get(RouteTable)];
  app.useLogger(log);
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  const record = recordRequests(log, app.get(Metrics), app.get(RequestLog), (...at) => routes.match(...at));
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  app.use((request: Request, response: Response, next: NextFunction) => {
    request.deadline = new Deadline(patience);
    record(request, response);
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
    next();
  });
  const origins = env.get('CORS_ORIGINS');
  app.enableCors({ origin: origins.includes('*') ? '*' : origins, exposedHeaders: EXPOSED, maxAge: 600 });
  app.use((request: Request, response: Response, next: NextFunction) => {
    const fault = httpFaultOf(request, response);
    if (fault) next(fromHttp(fault));
    else next(routes.isRefused(request.method, request.path) ? new NotFoundException() : undefined);
  });
  app.use(inTurn(app.get(Fairness).turnOf));
  serveDocs(app);
  serveMedia(app);
  serveFiles(app);
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  answerClientErrors(app.getHttpServer(), log, (fault) => rawResponse(fromHttp(fault)));
}
