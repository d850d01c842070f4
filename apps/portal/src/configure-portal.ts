import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Env } from '@app/config';
import { Deadline } from '@app/database';
import { Log } from '@app/logging';
import { accessLog, answerClientErrors, httpFaultOf, inTurn, ServingAdapter } from '@app/serving';
import { Metrics } from './health/health.module.js';
import { Assets } from './web/assets.js';
import { refuseCrossSite } from './web/cross-site.js';
import { Fairness } from './web/fairness.js';
import { readForms } from './web/form-bodies.js';
import { PageError } from './web/page-error.js';
import { Html } from './web/pages.js';
import { RouteTable } from './web/route-table.js';
import { onEverything, onPages, RAW_HEADERS } from './web/security-headers.js';
import { Templates } from './web/templates.js';

/** Pages set their own status. Nest would answer every POST with 201. */
class PageAdapter extends ServingAdapter {
  override reply(response: Response, body: unknown, status?: number): unknown {
    return body instanceof Html ? body.sendTo(response) : (super.reply(response, body, status) as unknown);
  }
}

export function createAdapter(): ServingAdapter {
  // Names and values, no nested objects.
  return new PageAdapter({ 'query parser': 'simple' });
}

/** Configures everything that modules cannot. Called by main.ts and by tests. */
export function configurePortal(app: NestExpressApplication): void {
  const [env, log, { requests }] = [app.get(Env), app.get(Log), app.get(Metrics)];
  app.useLogger(log);
  app.set('trust proxy', env.get('TRUST_PROXY') ? 1 : false);
  const [fairness, routes, templates] = [app.get(Fairness), app.get(RouteTable), app.get(Templates)];
  const record = accessLog(
    log,
    ({ method, membership }, { route, status, seconds }) => {
      requests.observe({ method, route: route ?? 'none', status }, seconds);
      return { organization_id: membership?.organizationId };
    },
    ({ method, path }) => routes.match(method, path)?.path,
  );
  app.use((request: Request, response: Response, next: NextFunction) => {
    record(request, response);
    next();
  });
  app.use(onEverything);
  app.use(onPages);
  app.use((request: Request, response: Response, next: NextFunction) => {
    const fault = httpFaultOf(request, response);
    next(fault && PageError.fromHttp(fault));
  });
  app.use(refuseCrossSite);
  app.use(readForms);
  // The time a browser takes to send its form does not count.
  const patience = env.get('REQUEST_DEADLINE_SECONDS') * 1_000;
  app.use((_request: Request, _response: Response, next: NextFunction) => new Deadline(patience).within(next));
  app.use(inTurn(fairness.turnOf));
  app.use('/assets', app.get(Assets).serve);
  app.use(fairness.know);
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  answerClientErrors(app.getHttpServer(), log, (fault) => {
    const { headers, ...rest } = templates.raw(PageError.fromHttp(fault));
    return { ...rest, headers: { ...RAW_HEADERS, ...headers } };
  });
}
