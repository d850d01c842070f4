import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf, BELONGS, confirmationOf } from './access.decorators.js';
import { Fairness } from './fairness.js';
import { ConfirmationNeeded, PageError, SignInNeeded } from './page-error.js';
import { RouteTable } from './route-table.js';
import { type Membership, Sessions, type SignedIn } from './sessions.js';

/** Where on its page a form was: a filter, or the page of one entry below a list. */
const FROM = /^(\?|\/[\w-]+$)/;

/** Who is meant by an access, in words. */
const WHO = {
  managers: ['owners and admins', 'Ask one of them for help.'],
  tutors: ['tutors', 'Your own pages are in the menu.'],
  families: ['parents and students', 'Your own pages are in the menu.'],
  parents: ['parents', 'Your own pages are in the menu.'],
  members: ['members', ''],
} satisfies Record<keyof typeof BELONGS, [string, string]>;

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
    if (access !== 'signed-in')
      request.membership = belonging(access, request.session.memberships, request.params.slug);
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

/** @throws PageError 404, also for other organizations; 403 for those of the organization who may not open the page */
function belonging(
  access: keyof typeof BELONGS,
  memberships: Membership[],
  slug: string | string[] | undefined,
): Membership {
  const membership = memberships.find((one) => one.slug === slug);
  if (!membership) throw PageError.notFound();
  if (BELONGS[access](membership)) return membership;
  const [who, then] = WHO[access];
  throw PageError.forbidden(
    `Only ${who} of ${membership.name} can open this page, and your role is ${membership.role}. ${then}`,
  );
}
