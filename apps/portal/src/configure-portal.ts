import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';
import {
  accessLog,
  Admission,
  bodyLengthOf,
  createExpress,
  EarlyRefusals,
  headersSetBy,
  httpFaultOf,
  pathOf,
  protectServer,
  SLOW_CLIENT_LIMITS,
} from '@app/serving';
import { Assets } from './web/assets.js';
import { refuseCrossSite } from './web/cross-site.js';
import { FormBodies } from './web/form-bodies.js';
import { NetworkTurns } from './web/network-turns.js';
import { BUSY, PageError } from './web/page-error.js';
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
  const [admission, turns] = [app.get(Admission), app.get(NetworkTurns)];
  const [routes, templates] = [app.get(RouteTable), app.get(Templates)];
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
      // A form counts once it has arrived: until then it takes up nothing but its connection.
      (request) => (request.method === 'POST' && bodyLengthOf(request) > 0 ? null : turns.count(request)),
      (request, response) => (admission.admit(request, response) ? null : BUSY),
    ],
    match: (method, path) => routes.match(method, path),
    render: (error) => templates.refusal(error),
    usualHeaders,
  });

  app.use(securityHeaders);
  app.use('/assets', app.get(Assets).serve);
  app.use(pageHeaders);
  app.use(refuseCrossSite);
  app.use(app.get(FormBodies).read);
  // The time a browser takes to send its form does not count.
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  app.use((_request: Request, _response: Response, next: NextFunction) => new Deadline(patience).within(next));
  app.use(turns.take);
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    // A client that left in the middle of its form gets no page.
    if (request.socket.destroyed) return;
    const refusal = turns.count(request) ?? error;
    if (refusal instanceof PageError) early.refuse(request, response, refusal);
    else next(refusal);
  });
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });

  protectServer(app.getHttpServer(), {
    log,
    early,
    admits: early.admits,
    overloaded: () => BUSY,
    render: (fault) => {
      const { status, headers, body } = templates.refusal(PageError.fromHttp(fault));
      return { status, headers: { ...usualHeaders, ...headers }, body };
    },
    slowClients,
  });
}
