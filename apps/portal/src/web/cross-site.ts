import type { NextFunction, Request, Response } from 'express';
import { PageError } from './page-error.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses forms from other sites. Browsers say where a request comes from (Sec-Fetch-Site, since 2023 all of them, over
 * https and on localhost); older ones send the page's origin. A form with neither is refused as well. Together with
 * SameSite cookies this makes a token in each form unnecessary.
 */
export function refuseCrossSite(request: Request, _response: Response, next: NextFunction): void {
  next(SAFE.has(request.method) || isOwn(request) ? undefined : PageError.crossSite());
}

function isOwn(request: Request): boolean {
  const site = request.get('Sec-Fetch-Site');
  const origin = request.get('Origin');
  // The origin is "null" where the referrer policy hides the page. Then only Sec-Fetch-Site counts.
  if (origin !== undefined && origin !== 'null' && !isPageOf(origin, request)) return false;
  return site === undefined ? origin !== undefined && origin !== 'null' : site === 'same-origin';
}

/** Over https, a page of the same host over http is another site: anybody in the network can write it. */
function isPageOf(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, protocol } = new URL(origin);
  return host === request.get('Host')?.toLowerCase() && (protocol === 'https:' || !request.secure);
}
