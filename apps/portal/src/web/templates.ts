import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { Request } from 'express';
import { Assets } from './assets.js';
import type { Flash } from './flash.js';
import { formats } from './formats.js';
import { Navigation } from './navigation.js';

/** The folder of the areas: `keys/list` is `keys/list.eta` in here. */
const VIEWS = fileURLToPath(new URL('..', import.meta.url));

/** Every text that a template puts into a page is escaped (`<%= %>`); `<%~ %>` is for includes alone. */
@Injectable()
export class Templates {
  private readonly eta = new Eta({ views: VIEWS, cache: true, autoEscape: true });

  constructor(
    private readonly assets: Assets,
    private readonly navigation: Navigation,
  ) {}

  /** The page as HTML. A template finds `data` in `it`, beside what every page has. */
  render(template: string, data: object, request: Request, flash: Flash | null = null): string {
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
