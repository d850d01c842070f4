import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { JsonText } from '../views/json-text.js';
import { Page } from './page.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Puts pages into their envelope; records and arrays that are JSON already go out as they are. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map((answer: unknown) => {
        const text = toText(answer);
        if (text === null) return answer;
        const response = context.switchToHttp().getResponse<Response>().setHeader('Content-Type', JSON_TYPE);
        if (answer instanceof JsonText && answer.etag) response.setHeader('ETag', answer.etag);
        return text;
      }),
    );
  }
}

function toText(answer: unknown): string | null {
  if (answer instanceof Page) return `{"data":${answer.data},"meta":${JSON.stringify(answer.meta)}}`;
  return answer instanceof JsonText ? answer.text : null;
}
