import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import { Page, Pages, SeeOther } from './pages.js';

/** Sends pages and redirects; anything else that a handler returns is sent unchanged. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: Pages) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const answered = (answer: unknown) =>
      answer instanceof Page || answer instanceof SeeOther ? this.pages.answer(answer, request) : answer;
    return next.handle().pipe(map(answered));
  }
}
