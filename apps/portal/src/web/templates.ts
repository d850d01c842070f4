import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { Request } from 'express';
import { canonicalUuid } from '@app/database';
import type { RawResponse } from '@app/serving';
import { Assets } from './assets.js';
import { formats } from './formats.js';
import { ICONS } from './icons.js';
import { Navigation } from './navigation.js';
import type { PageError } from './page-error.js';
import type { Flash } from './flash.js';

/** The folder of the templates: `keys/list` is `keys/list.eta` in it. */
const VIEWS = fileURLToPath(new URL('..', import.meta.url));

/** The part of a request that a page shows. */
type PageRequest = Pick<Request, 'path'> & Partial<Pick<Request, 'session' | 'membership' | 'body'>>;

/** Templates escape all text (`<%= %>`); `<%~ %>` is only for includes. */
@Injectable()
export class Templates {
  private readonly eta = new Eta({ views: VIEWS, cache: true, autoEscape: true });
  private readonly rawPages = new Map<string, string>();

  constructor(
    private readonly assets: Assets,
    private readonly navigation: Navigation,
  ) {}

  /** The page for input that is not a request. Never differs, so it is rendered only once. */
  raw({ status, title, message, headers }: PageError): RawResponse {
    let body = this.rawPages.get(title);
    if (body === undefined) {
      body = this.render('web/error', { status, title, message, requestId: null }, { path: '' });
      this.rawPages.set(title, body);
    }
    return { status, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' }, body };
  }

  /** The page as HTML. Templates find `data` in `it`, besides what every page has. */
  render(template: string, data: object, request: PageRequest, flash: Flash | null = null): string {
    const { session = null, membership: organization = null, path } = request;
    return this.eta.render(`/${template}`, {
      session,
      organization,
      path,
      // One that is shown again, because something in it is wrong, keeps its own.
      token: sentToken(request) ?? randomUUID(),
      flash,
      menu: organization ? this.navigation.of(organization, path) : null,
      asset: (name: string) => this.assets.urlOf(name),
      icon,
      format: formats(organization?.timeZone ?? 'UTC'),
      ...data,
    });
  }
}

function sentToken({ body }: PageRequest): string | null {
  const { form_token: token } = (body ?? {}) as { form_token?: unknown };
  return typeof token === 'string' ? canonicalUuid(token) : null;
}

/** An icon beside a word, which says the same. */
const icon = (name: keyof typeof ICONS): string =>
  `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;
