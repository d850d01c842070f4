import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf, confirmationOf } from './access.decorators.js';
import { Fairness } from './fairness.js';
import { ConfirmationNeeded, PageError, SignInNeeded } from './page-error.js';
import { RouteTable } from './route-table.js';
import { type Membership, Sessions, type SignedIn } from './sessions.js';

/** Where on its page a form was: a filter, or the page of one entry below a list. */
const FROM = /^(\?|\/[\w-]+$)/;

const MANAGERS = new Set<Membership['role']>(['owner', 'admin']);

/** Whether somebody manages this organization. */
export const manages = ({ role }: Membership): boolean => MANAGERS.has(role);

/** Enforces the access of a route, and that the person has confirmed who they are. A route that declares no access is denied. */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly sessions: Sessions,
    private readonly routes: RouteTable,
    private readonly fairness: Fairness,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [handler, controller] = [context.getHandler(), context.getClass()];
    const access = accessOf(handler, controller);
    if (access === undefined) return false;
    if (access === 'probe') return true;
    const request = context.switchToHttp().getRequest<Request>();
    request.session = (await this.sessions.find(request)) ?? undefined;
    await this.fairness.lookedUp(request, request.session !== undefined);
    if (access === 'public') return true;
    if (!request.session) throw new SignInNeeded(this.pageOf(request, handler));
    const { person } = (request.body ?? {}) as { person?: unknown };
    if (wasShownToAnother(person, request.session)) throw PageError.anotherPerson();
    if (access === 'managers') request.membership = managed(request.session.memberships, request.params.slug);
    if (confirmationOf(handler, controller) && !request.session.confirmed) {
      throw new ConfirmationNeeded(this.pageOf(request, handler));
    }
    return true;
  }

  /** The page that a request is for; for a form, the page that it is on. */
  private pageOf({ method, params, originalUrl, body }: Request, handler: object): string | null {
    if (method === 'GET' || method === 'HEAD') return originalUrl;
    const page = this.routes.pageOf(handler);
    if (!page) return null;
    const { from } = (body ?? {}) as { from?: unknown };
    const rest = typeof from === 'string' && FROM.test(from) ? from : '';
    return page.replaceAll(/:([^/]+)/g, (_, name: string) => encodeURIComponent(String(params[name]))) + rest;
  }
}

/** Whether a form was shown to somebody else than it was sent by (web/person.eta). Undefined if the form names nobody. */
export function wasShownToAnother(person: unknown, session: SignedIn | null): boolean {
  return person !== undefined && person !== (session?.userId ?? '');
}

/** @throws PageError 404, also for other organizations */
function managed(memberships: Membership[], slug: string | string[] | undefined): Membership {
  const membership = memberships.find((one) => one.slug === slug);
  if (!membership) throw PageError.notFound();
  if (manages(membership)) return membership;
  throw PageError.forbidden(
    `Only owners and admins of ${membership.name} can open this page, and your role is ${membership.role}. Ask one of them for help.`,
  );
}
