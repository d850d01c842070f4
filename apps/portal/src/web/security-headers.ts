import type { NextFunction, Request, Response } from 'express';
import { securityHeaders } from '@app/serving';

/** Everything is loaded from the portal itself; nothing is inline, framed, or sent elsewhere. */
const EVERYWHERE = securityHeaders(
  {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
  },
  // A URL may contain the secret of a link.
  { xFrameOptions: { action: 'deny' }, referrerPolicy: { policy: 'no-referrer' } },
);

/** Pages are personal: no cache may store them, and no search engine may list them. */
const PAGES: [name: string, value: string][] = [
  ['Cache-Control', 'no-store'],
  ['X-Robots-Tag', 'noindex, nofollow'],
];

const setting = (headers: [string, string][]) => (_request: Request, response: Response, next: NextFunction) => {
  for (const [name, value] of headers) response.setHeader(name, value);
  next();
};

export const onEverything = setting(EVERYWHERE);
export const onPages = setting(PAGES);

/** The headers of a page that does not go through Express. */
export const RAW_HEADERS = Object.fromEntries([...EVERYWHERE, ...PAGES]);
