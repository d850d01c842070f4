import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Cookies } from './cookies.js';
import type { Flash } from './flash.js';
import { Templates } from './templates.js';

/** The page that a handler returns: a template and its data. */
export class Page {
  constructor(
    readonly template: string,
    readonly data: object,
    readonly status: number,
  ) {}
}

/** A page: `page('keys/list', { keys })`; with a status if it reports an error. */
export const page = (template: string, data: object = {}, status = 200): Page => new Page(template, data, status);

/** The response to a form that succeeded: a redirect, so that a reload does not send it again. */
export class SeeOther {
  constructor(
    readonly path: string,
    readonly flash: Flash | null,
  ) {}
}

/** @param text the message at the top of the other page */
export const seeOther = (path: string, kind?: Flash['kind'], text = ''): SeeOther =>
  new SeeOther(path, kind ? { kind, text } : null);

/** A rendered response. */
export class Html {
  constructor(
    private readonly status: number,
    private readonly html: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  sendTo(response: Response): Response {
    return response.status(this.status).set(this.headers).type('html').send(this.html);
  }
}

/** Turns the results of handlers into HTML. */
@Injectable()
export class Pages {
  constructor(
    private readonly templates: Templates,
    private readonly cookies: Cookies,
  ) {}

  answer(answer: Page | SeeOther, request: Request): Html {
    if (answer instanceof SeeOther) {
      if (answer.flash) this.cookies.seal(request, 'flash', answer.flash);
      return new Html(303, '', { Location: answer.path });
    }
    const flash = this.cookies.open(request, 'flash') as Flash | null;
    this.cookies.clear(request, 'flash');
    return new Html(answer.status, this.templates.render(answer.template, answer.data, request, flash));
  }
}
