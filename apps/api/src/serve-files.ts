import { pipeline } from 'node:stream/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { PrivateStorage } from '@app/storage';
import { type Document, FileLinks } from '@app/teaching';
import { ApiError, RouteTable } from './http/kit.js';

const ROUTE = '/files/:link';

/** Uploaded by somebody: nothing of it runs, nobody guesses what it is, and no cache keeps it. */
const HEADERS = {
  'Cache-Control': 'private, no-store',
  'Content-Security-Policy': `default-src 'none'; sandbox`,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Accept-Ranges': 'bytes',
};

/** Serves uploaded documents to whoever has a link that still holds. */
export function serveFiles(app: NestExpressApplication): void {
  const [links, storage] = [app.get(FileLinks), app.get(PrivateStorage)];
  const serve = async (request: Request, response: Response): Promise<void> => {
    const document = await links.open(String(request.params.link));
    if (!document) throw notFound();
    const range = rangeOf(request, document.size);
    if (range === 'unsatisfiable') {
      response.status(416).set({ ...HEADERS, 'Content-Range': `bytes */${document.size}` });
      response.end();
      return;
    }
    const { start, end } = range ?? { start: 0, end: document.size - 1 };
    const bytes = await storage.read(document.path, { start, end });
    if (!bytes) throw notFound();
    response.status(range ? 206 : 200).set({
      ...HEADERS,
      ...(range && { 'Content-Range': `bytes ${start}-${end}/${document.size}` }),
      'Content-Type': document.contentType,
      'Content-Length': String(end - start + 1),
      'Content-Disposition': dispositionOf(document),
    });
    if (request.method === 'HEAD') {
      bytes.destroy();
      response.end();
      return;
    }
    // Either side may break off: the client sees it by the length.
    await pipeline(bytes, response).catch(() => response.destroy());
  };
  app
    .getHttpAdapter()
    .getInstance()
    .get(ROUTE, (request: Request, response: Response, next: NextFunction) => {
      serve(request, response).catch(next);
    });
  app.get(RouteTable).addPage(ROUTE);
}

/** The part that is asked for; null for all of it, as for several parts. */
function rangeOf(request: Request, size: number) {
  const ranges = request.range(size);
  if (ranges === -1) return 'unsatisfiable';
  return Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0]! : null;
}

/** Saved under its name, never shown. */
function dispositionOf({ name }: Document): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}

const notFound = () => new ApiError('not_found', 'There is nothing at this path.');
