import type { NextFunction, Request, Response } from 'express';
import { PageError } from './page-error.js';

/** Mail programs send the form of RFC 8058 without any page. Whoever can name the link may use it. */
const ONE_CLICK = /^\/mails\/[^/]+$/;

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses forms from other sites. All browsers since 2023 send Sec-Fetch-Site, older ones the page's origin; a form with neither is refused.
 * With SameSite cookies, this makes tokens in forms unnecessary.
 */
export function refuseCrossSite(request: Request, _response: Response, next: NextFunction): void {
  next(SAFE.has(request.method) || ONE_CLICK.test(request.path) || isOwn(request) ? undefined : PageError.crossSite());
}

function isOwn(request: Request): boolean {
  const site = request.get('Sec-Fetch-Site');
  const origin = request.get('Origin');
  // The origin is "null" if the referrer policy hides the page. Then only Sec-Fetch-Site counts.
  if (origin !== undefined && origin !== 'null' && !isPageOf(origin, request)) return false;
  return site === undefined ? origin !== undefined && origin !== 'null' : site === 'same-origin';
}

/** To an https site, the same host's pages over http are another site: anybody in the network can forge them. */
function isPageOf(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, protocol } = new URL(origin);
  return host === request.get('Host')?.toLowerCase() && (protocol === 'https:' || !request.secure);
}
