import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Page, Pages, SeeOther } from './pages.js';

/** Sends pages and redirects; anything else that a handler returns is sent unchanged. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: Pages) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      map((answer: unknown) => {
        if (!(answer instanceof Page || answer instanceof SeeOther)) return answer;
        return this.pages.answer(answer, http.getRequest<Request>(), http.getResponse<Response>());
      }),
    );
  }
}
