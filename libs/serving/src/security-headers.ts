import helmet, { type HelmetOptions } from 'helmet';

/** The headers that helmet sets, found once: responses that do not go through Express need them too. Obsolete ones are left out. */
export function securityHeaders(
  directives: Record<string, string>,
  stricter: Pick<HelmetOptions, 'xFrameOptions' | 'referrerPolicy'> = {},
): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const middleware = helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    ...stricter,
  });
  const response = { setHeader: (...header: [string, string]) => headers.push(header), removeHeader: () => undefined };
  middleware({} as never, response as never, () => undefined);
  return headers;
}
