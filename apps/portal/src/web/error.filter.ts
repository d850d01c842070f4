import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { QueueFull } from '@app/concurrency';
import { awayOf, isUnavailable } from '@app/database';
import { Log } from '@app/logging';
import { Refused } from '@app/rules';
import { beforeRefusal, ClientLeft, isRefusal, statusOf } from '@app/serving';
import { Cookies } from './cookies.js';
import { BUSY, Detour, PageError } from './page-error.js';
import type { Flash } from './flash.js';
import { Html } from './pages.js';
import { pageOf } from './refusals.js';
import { manages } from './access.decorators.js';
import { Sessions } from './sessions.js';
import { Templates } from './templates.js';

/** Turns any exception into a page that says what to do next. Exposes nothing internal except the request id. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly templates: Templates,
    private readonly cookies: Cookies,
    private readonly sessions: Sessions,
    private readonly log: Log,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (thrown instanceof ClientLeft) return;
    if (response.headersSent) {
      this.log.failure(thrown, request.id, 'internal_error');
      response.destroy();
      return;
    }
    if (thrown instanceof Detour) {
      const { page, next, unsent } = thrown;
      if (next && request.method === 'POST') {
        this.cookies.seal(request, 'flash', { kind: 'notice', text: unsent } satisfies Flash);
      }
      const query = next ? `?${new URLSearchParams({ next }).toString()}` : '';
      new Html(303, '', { Location: `${page}${query}` }).sendTo(response);
      return;
    }
    // A client that left in the middle of its form gets no page.
    if (request.socket.destroyed) return;
    const error = toPageError(thrown, request.method);
    if (error.status === 404) await this.keepNavigation(request);
    if (isRefusal(error.status)) {
      request.turn?.release();
      await beforeRefusal();
    }
    if (error.status >= 500 && error !== BUSY) this.log.failure(thrown, request.id, String(error.status));
    const { status, title, message, headers, template } = error;
    const requestId = status >= 500 && error !== BUSY ? request.id : null;
    const data = { ...error.data, status, title, message, requestId };
    new Html(status, this.templates.render(template, data, request), headers).sendTo(response);
  }

  /** Leads back from a mistyped address. Nobody is looked up before for a path without a route. */
  private async keepNavigation(request: Request): Promise<void> {
    if (request.membership) return;
    const [, pages, slug] = /^\/(o|my)\/([^/]+)\//.exec(request.path) ?? [];
    request.session ??= (await this.sessions.find(request).catch(() => null)) ?? undefined;
    request.membership = request.session?.memberships.find(
      (one) => one.slug === slug && (pages === 'my' || manages(one)),
    );
  }
}

function toPageError(thrown: unknown, method: string): PageError {
  if (thrown instanceof PageError) return thrown;
  if (thrown instanceof Refused) return pageOf(thrown);
  if (thrown instanceof QueueFull) return BUSY;
  const away = awayOf(thrown);
  if (away) return PageError.notAtHome(away);
  if (isUnavailable(thrown)) return PageError.databaseAway();
  const status = statusOf(thrown);
  if (status === 403) return PageError.forbidden('You do not have access to this page.');
  if (status === 413) return new PageError(413, 'This form is too long', 'Go back, shorten it, and send it again.');
  // Express answers a path that cannot be decoded with 400.
  if (status === 404 || (status === 400 && method === 'GET')) return PageError.notFound();
  if (status !== undefined && status < 500) return PageError.badForm();
  const text = 'This is a problem on our side, and it has been logged. Please try again.';
  return new PageError(500, 'Something went wrong', text);
}
