import type { IncomingMessage } from 'node:http';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { TokenBuckets } from '@app/concurrency';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';
import {
  accessLog,
  Admission,
  clientAddress,
  createExpress,
  EarlyRefusals,
  headersSetBy,
  httpFaultOf,
  pathOf,
  protectServer,
  SLOW_CLIENT_LIMITS,
} from '@app/serving';
import { Assets } from './web/assets.js';
import { PROBES } from './web/capacity.js';
import { refuseCrossSite } from './web/cross-site.js';
import { FormBodies } from './web/form-bodies.js';
import { networkOf } from './web/network.js';
import { Busy, PageError } from './web/page-error.js';
import { Html } from './web/pages.js';
import { RouteTable } from './web/route-table.js';
import { pageHeaders, securityHeaders } from './web/security-headers.js';
import { Templates } from './web/templates.js';

/** Pages set their own status. Nest would answer every POST with 201. */
class PageAdapter extends ExpressAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    return body instanceof Html ? body.sendTo(response) : (super.reply(response, body, status) as unknown);
  }
}

export function createAdapter(): ExpressAdapter {
  const server = createExpress();
  // Names and values, no nested objects.
  server.set('query parser', 'simple');
  return new PageAdapter(server);
}

/** Configures everything that modules cannot. Called by main.ts and by tests. */
export function configurePortal(app: NestExpressApplication, slowClients = SLOW_CLIENT_LIMITS): void {
  const [env, log] = [app.get(Env), app.get(Log)];
  app.useLogger(log);
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  app.use(securityHeaders);
  app.use('/assets', app.get(Assets).serve);
  app.use(pageHeaders);
  app.use(refuseCrossSite);
  app.use(app.get(FormBodies).read);
  // The time a browser takes to send its form does not count.
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  app.use((_request: Request, _response: Response, next: NextFunction) => new Deadline(patience).within(next));
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });

  const [admission, routes, templates] = [app.get(Admission), app.get(RouteTable), app.get(Templates)];
  const usualHeaders = headersSetBy(securityHeaders as never, pageHeaders);
  const early = new EarlyRefusals<PageError, { path: string }>({
    begin: accessLog(
      log,
      ({ membership }) => ({ organization_id: membership?.organizationId }),
      (request) => routes.match(request.method, pathOf(request))?.path,
    ),
    checks: [
      (request, response) => {
        const fault = httpFaultOf(request, response);
        return fault && PageError.fromHttp(fault);
      },
      limitNetworks(env),
      (request, response) => (admission.admit(request, response) ? null : new Busy()),
    ],
    match: (method, path) => routes.match(method, path),
    render: (error) => templates.refusal(error),
    usualHeaders,
  });
  protectServer(app.getHttpServer(), {
    log,
    early,
    admits: early.admits,
    overloaded: () => new Busy(),
    render: (fault) => {
      const { status, headers, body } = templates.refusal(PageError.fromHttp(fault));
      return { status, headers: { ...usualHeaders, ...headers }, body };
    },
    slowClients,
  });
}

/**
 * Limits the requests of each network, per process. Limits on what people attempt are shared, but counting an attempt
 * takes a statement: without this one, a single network could keep the process busy with attempts that are refused.
 */
function limitNetworks(env: Env): (request: IncomingMessage) => PageError | null {
  const perMinute = env.get('PORTAL_REQUESTS_PER_MINUTE');
  const buckets = new TokenBuckets({ perSecond: perMinute / 60, burst: Math.ceil(perMinute / 20) });
  const isFree = (request: IncomingMessage) =>
    PROBES.has(pathOf(request)) || buckets.take(networkOf(clientAddress(request, env.get('TRUST_PROXY'))));
  return (request) => (isFree(request) ? null : PageError.tooMany(5));
}
