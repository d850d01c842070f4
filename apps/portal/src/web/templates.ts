import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { Request } from 'express';
import type { Refusal } from '@app/serving';
import { Assets } from './assets.js';
import type { Flash } from './flash.js';
import { formats } from './formats.js';
import { Navigation } from './navigation.js';
import type { PageError } from './page-error.js';

/** The folder of the areas: `keys/list` is `keys/list.eta` in here. */
const VIEWS = fileURLToPath(new URL('..', import.meta.url));

/** What a page shows of its request. */
type PageRequest = Pick<Request, 'path'> & Partial<Pick<Request, 'session' | 'membership'>>;

/** Every text that a template puts into a page is escaped (`<%= %>`); `<%~ %>` is for includes alone. */
@Injectable()
export class Templates {
  private readonly eta = new Eta({ views: VIEWS, cache: true, autoEscape: true });
  private readonly refusals = new Map<string, string>();

  constructor(
    private readonly assets: Assets,
    private readonly navigation: Navigation,
  ) {}

  /** The page of an error before anything else is known of its request. The same each time, so it is made once. */
  refusal({ status, title, message, headers }: PageError): Refusal {
    let body = this.refusals.get(title);
    if (body === undefined) {
      body = this.render('web/error', { status, title, message, requestId: null }, { path: '' });
      this.refusals.set(title, body);
    }
    return { status, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' }, body };
  }

  /** The page as HTML. A template finds `data` in `it`, beside what every page has. */
  render(template: string, data: object, request: PageRequest, flash: Flash | null = null): string {
    const { session = null, membership: organization = null, path } = request;
    return this.eta.render(`/${template}`, {
      session,
      organization,
      path,
      flash,
      navigation: organization ? this.navigation.of(organization, path) : [],
      asset: (name: string) => this.assets.urlOf(name),
      format: formats(organization?.timeZone ?? 'UTC'),
      ...data,
    });
  }
}
