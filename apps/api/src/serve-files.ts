import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { QueueFull } from '@app/concurrency';
import { ExportLinks } from '@app/exports';
import { Papers } from '@app/papers';
import { PrivateStorage } from '@app/storage';
import { type Document, FileLinks } from '@app/teaching';
import { ApiError, Overloaded, RouteTable } from './http/kit.js';

/** Uploaded by somebody: nothing of it runs, nobody guesses what it is, and no cache keeps it. */
const HEADERS = {
  'Cache-Control': 'private, no-store',
  'Content-Security-Policy': `default-src 'none'; sandbox`,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Accept-Ranges': 'bytes',
};

/** What a link leads to. */
type Opened = Document & {
  /** Of what is stored nowhere. */
  bytes?: Buffer;
  /** Is told what has been sent: bytes from `start` on. */
  sent?: (start: number, bytes: number) => Promise<void>;
};

/** Serves uploaded documents, papers and exports to whoever has a link that still holds. */
export function serveFiles(app: NestExpressApplication): void {
  serveAt(app, '/files/:link', (link) => app.get(FileLinks).open(link));
  serveAt(app, '/papers/:link', (link) => app.get(Papers).open(link));
  serveAt(app, '/exports/:link', (link) => app.get(ExportLinks).open(link));
}

function serveAt(app: NestExpressApplication, route: string, open: (link: string) => Promise<Opened | null>): void {
  const storage = app.get(PrivateStorage);
  const serve = async (request: Request, response: Response): Promise<void> => {
    const document = await open(String(request.params.link));
    if (!document) throw notFound();
    const range = rangeOf(request, document.size);
    if (range === 'unsatisfiable') {
      response.status(416).set({ ...HEADERS, 'Content-Range': `bytes */${document.size}` });
      response.end();
      return;
    }
    const { start, end } = range ?? { start: 0, end: document.size - 1 };
    const bytes = document.bytes
      ? Readable.from([document.bytes.subarray(start, end + 1)])
      : await storage.read(document.path, { start, end });
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
    let sent = 0;
    const counted = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        yield piece;
        sent += piece.length;
      }
    };
    // Either side may break off: the client sees it by the length.
    const whole = await pipeline(bytes, counted, response).then(
      () => true,
      () => {
        response.destroy();
        return false;
      },
    );
    if (sent > 0) await document.sent?.(start, whole ? sent : Math.min(sent, end - start));
  };
  app
    .getHttpAdapter()
    .getInstance()
    .get(route, (request: Request, response: Response, next: NextFunction) => {
      // Papers wait for their drawing.
      serve(request, response).catch((error: unknown) => next(error instanceof QueueFull ? new Overloaded(5) : error));
    });
  app.get(RouteTable).addPage(route);
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
