import { extname } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, RequestHandler, Response } from 'express';
import { Env } from '@app/config';
import { CONTENT_TYPES } from '@app/images';
import { mediaFolder } from '@app/storage';
import { ApiError, RouteTable } from './http/kit.js';

const ROUTE = '/media/:target/:owner/:name';

/** Stored files are immutable, and browsers must not execute them. */
const HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': `default-src 'none'; sandbox`,
  'Content-Disposition': 'inline',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** One segment of a stored path: it cannot escape the folder. */
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Serves the files of STORAGE=disk publicly, at the URLs that uploads returned. */
export function serveMedia(app: NestExpressApplication): void {
  const env = app.get(Env);
  if (env.get('STORAGE') !== 'disk') return;
  const root = mediaFolder(env);
  const serve: RequestHandler = (request, response, next) => {
    const segments = Object.values(request.params) as string[];
    const contentType = CONTENT_TYPES.get(extname(request.path).slice(1));
    if (!contentType || !segments.every((segment) => SEGMENT.test(segment))) {
      next(notFound());
      return;
    }
    response.sendFile(
      segments.join('/'),
      { root, cacheControl: false, acceptRanges: false, headers: { ...HEADERS, 'Content-Type': contentType } },
      (error) => {
        if (error) answerFailure(error, response, next);
      },
    );
  };
  app.getHttpAdapter().getInstance().get(ROUTE, serve);
  app.get(RouteTable).addPage(ROUTE);
}

/** A client that disconnects is not a failure. */
function answerFailure(error: Error & { status?: number }, response: Response, next: NextFunction): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else next(error.status === 404 || error.status === 400 || error.status === 403 ? notFound() : error);
}

function notFound(): ApiError {
  return new ApiError('not_found', 'There is nothing at this path.');
}
