import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Everything is loaded from the portal itself; nothing is inline, framed, or sent elsewhere. */
export const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
    },
  },
  xFrameOptions: { action: 'deny' },
  // A URL may contain the secret of a link.
  referrerPolicy: { policy: 'no-referrer' },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Pages are personal: no cache may store them, and no search engine may list them. */
export function pageHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Robots-Tag', 'noindex, nofollow');
  next();
}

/** The same headers, for a response that does not go through Express. */
export function usualHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer = { setHeader: (name: string, value: string) => (headers[name] = value), removeHeader: () => undefined };
  securityHeaders({} as never, answer as never, () => undefined);
  pageHeaders({} as never, answer as never, () => undefined);
  return headers;
}
