import type { NextFunction, Request, Response } from 'express';
import { PageError } from './page-error.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses forms that pages of other sites send. Browsers say where a request comes from (Sec-Fetch-Site, since 2023 all of
 * them, over https and on localhost); older ones name the page's origin. A form that says neither is refused as well, so
 * that no token is needed in each form: with SameSite cookies there are two locks already.
 */
export function refuseCrossSite(request: Request, _response: Response, next: NextFunction): void {
  next(SAFE.has(request.method) || isOwn(request) ? undefined : PageError.crossSite());
}

function isOwn(request: Request): boolean {
  const site = request.get('Sec-Fetch-Site');
  const origin = request.get('Origin');
  // Browsers say "null" where the referrer policy hides the page: then only the site counts.
  if (origin !== undefined && origin !== 'null' && hostOf(origin) !== request.get('Host')) return false;
  return site === undefined ? origin !== undefined && origin !== 'null' : site === 'same-origin';
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
