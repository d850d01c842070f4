import type { Server } from 'node:http';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Response } from 'express';
import { Env } from '@app/config';
import { Log } from '@app/logging';
import { accessLog } from './web/access-log.js';
import { Assets } from './web/assets.js';
import { refuseCrossSite } from './web/cross-site.js';
import { Html } from './web/pages.js';
import { pageHeaders, securityHeaders } from './web/security-headers.js';

/** Forms are short; the longest field is a password of a thousand characters. */
const LARGEST_BODY = '32kb';
const MOST_FIELDS = 200;

/**
 * Longer than the idle timeout of common proxies (60 s), so that the server never closes a connection that the proxy is
 * about to use.
 */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** A page brings its own status: Nest would answer every POST with 201. */
class PageAdapter extends ExpressAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    return body instanceof Html ? body.sendTo(response) : (super.reply(response, body, status) as unknown);
  }
}

export function createAdapter(): ExpressAdapter {
  const server = express();
  server.disable('x-powered-by');
  server.disable('etag');
  // Names and values, no nested objects.
  server.set('query parser', 'simple');
  return new PageAdapter(server);
}

/** Everything about the portal that is not in its modules. main.ts and the tests both call it. */
export function configurePortal(app: NestExpressApplication): void {
  const env = app.get(Env);
  app.useLogger(app.get(Log));
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  app.use(accessLog(app.get(Log)));
  app.use(securityHeaders);
  app.use('/assets', app.get(Assets).serve);
  app.use(pageHeaders);
  app.use(refuseCrossSite);
  app.use(express.urlencoded({ extended: false, limit: LARGEST_BODY, parameterLimit: MOST_FIELDS }));
  app.use(express.json({ limit: LARGEST_BODY }));
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  const server: Server = app.getHttpServer();
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
}
