import { type Server, ServerResponse } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Response } from 'express';
import helmet from 'helmet';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import { answerClientErrors } from './http/request/client-errors.js';
import { Metrics } from './http/metrics/metrics.js';
import { serveDocs } from './http/openapi/docs.js';
import { Deadline } from '@app/database';
import { accessLog } from './http/request/access-log.js';
import { Admission, releasePlace } from './http/request/admission.js';
import { joinChunks } from './http/request/chunks.js';
import { holdContinue } from './http/request/continue.js';
import { drainOnClose } from './http/request/drain.js';
import { serveInTurn } from './http/request/in-turn.js';
import { admitMalformed, refuseMalformed } from './http/request/malformed.js';
import { cutSlowClients, SLOW_CLIENT_LIMITS, type SlowClientLimits } from './http/request/slow-clients.js';
import { parseQuery } from './http/validation/query-parser.js';
import { JsonStream } from './http/views/json-stream.js';
import { serveMedia } from './media/serve-media.js';
import { REFERENCE_TAGS } from './reference-tags.js';

/** Longer than the idle time of usual proxies (60 s), so that it is never us who closes a connection in use. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** Answers are data: nothing in them may be run, shown in a frame or guessed to be something else. Relics are left out. */
const SECURITY_HEADERS = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': "'none'", 'frame-ancestors': "'none'" } },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Headers that a browser's code may read besides the plain ones. */
const EXPOSED = [
  'X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy',
  'Retry-After', 'WWW-Authenticate', 'Allow', 'ETag', 'Idempotency-Replayed',
]; // prettier-ignore

/**
 * Answers that are JSON text already go out as they are, past what Express would look up, convert and measure again. Of
 * one with an ETag Express tells whether the client has it already. A large one is streamed.
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

/** Express as we want it: one spelling of each path, our own reading of query strings, no validators of its own. */
export function createAdapter(): ExpressAdapter {
  const server = express();
  server.enable('case sensitive routing');
  server.enable('strict routing');
  server.disable('x-powered-by');
  server.disable('etag');
  server.set('query parser', parseQuery);
  server.response.writeHead = function (this: Response, ...head: [number]) {
    releasePlace(this.req);
    ServerResponse.prototype.writeHead.apply(this, head);
    return this;
  };
  return new JsonTextAdapter(server);
}

/** Everything about the application that is not in its modules. main.ts and the tests both call it. */
export function configureApp(app: NestExpressApplication, slowClients = SLOW_CLIENT_LIMITS): void {
  const env = app.get(Env);
  app.useLogger(app.get(Log));
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  app.use(accessLog(app.get(Log), app.get(Metrics)));
  app.use(refuseMalformed);
  app.use(SECURITY_HEADERS);
  const origins = env.get('CORS_ORIGINS');
  app.enableCors({ origin: origins.includes('*') ? '*' : origins, exposedHeaders: EXPOSED, maxAge: 600 });
  const admission = app.get(Admission);
  app.use(admission.admit);
  serveDocs(app, REFERENCE_TAGS);
  serveMedia(app);
  // Ended in order, a process ends with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  const server: Server = app.getHttpServer();
  admission.usualHeaders = securityHeaders(origins.includes('*'));
  serveInTurn(server, admission.admits, admission.refuse);
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  server.prependListener('request', (request) => Object.assign(request, { deadline: new Deadline(patience) }));
  configureServer(server, app.get(Log), slowClients);
}

/** Those of an answer to a client that is no page of another origin. */
function securityHeaders(anyOrigin: boolean): Record<string, string> {
  const headers: Record<string, string> = anyOrigin
    ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED.join(',') }
    : {};
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
