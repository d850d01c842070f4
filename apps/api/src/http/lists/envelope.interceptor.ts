import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { catchError, concatMap, from, type Observable, of } from 'rxjs';
import { Authentication, CallerChanged } from '../auth/authentication.js';
import { JsonStream } from '../views/json-stream.js';
import { JsonText } from '../views/json-text.js';
import { Page, type Part } from './page.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Puts pages into their envelope; records and bare arrays are sent as they are. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly authentication: Authentication) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (error instanceof CallerChanged) return next.handle();
        throw error;
      }),
      concatMap((answer: unknown) => {
        const sent = enveloped(answer, response);
        // A handler that reads nothing proves nobody.
        return request.caller?.proof?.settled === false
          ? from(this.authentication.prove(request).then(() => sent))
          : of(sent);
      }),
    );
  }
}

/** An answer as it is sent, with its headers set. */
export function enveloped(answer: unknown, response: Response): unknown {
  const json = toJson(answer);
  if (json === null) return answer;
  response.setHeader('Content-Type', JSON_TYPE);
  if ((answer instanceof JsonText || answer instanceof Page) && answer.etag) response.setHeader('ETag', answer.etag);
  return json;
}

function toJson(answer: unknown): string | JsonStream | null {
  if (answer instanceof JsonText) return answer.text;
  if (!(answer instanceof Page)) return null;
  const { records, meta } = answer;
  if (Symbol.asyncIterator in records) return new JsonStream(pieces(records, meta));
  return `${opening(meta)}${records.data ?? ''}${closing(meta)}`;
}

/** The same, part by part. `count` is the number of records sent, because some may be deleted in the meantime. */
async function* pieces(records: AsyncIterable<Part>, meta: Page['meta']): AsyncGenerator<string> {
  let before = opening(meta);
  let sent = 0;
  for await (const { count, data } of records) {
    if (data === null) continue;
    // Yields separately, because joining would copy the part once more.
    yield before;
    yield data;
    before = ',';
    sent += count;
  }
  yield (sent === 0 ? before : '') + closing(typeof meta === 'string' ? meta : { ...meta, count: sent });
}

function opening(meta: Page['meta']): string {
  return meta === 'array' ? '[' : '{"data":[';
}

function closing(meta: Page['meta']): string {
  if (meta === 'array') return ']';
  return meta === 'data' ? ']}' : `],"meta":${JSON.stringify(meta)}}`;
}
