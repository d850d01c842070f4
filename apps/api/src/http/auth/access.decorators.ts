import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { Scope } from '@app/access';
import type { Caller } from './caller.js';

const ACCESS = 'access';

/** The access that a route requires. */
export type Access = { public: true } | { public: false; scopes: Scope[]; ofBody?: ScopesOfBody };

/** The scopes that a valid body requires. The body is an instance of the handler's request class. */
export type ScopesOfBody = (body: never) => Scope[];

/** The route requires a key with all of these scopes, granted directly or by the umbrella scope. */
export const RequireScopes = (...scopes: [Scope, ...Scope[]]) => SetMetadata(ACCESS, { public: false, scopes });

/** The route requires some of these scopes, depending on its body. A key with none of them is refused before the body is read. */
export const RequireAnyScope = (scopes: [Scope, Scope, ...Scope[]], ofBody: ScopesOfBody) =>
  SetMetadata<string, Access>(ACCESS, { public: false, scopes, ofBody });

const PLATFORM_BLOG = 'platform blog';

/** An unvalidated request, because 403 is decided before 422. */
export interface RawContent {
  query: Request['query'];
  body: unknown;
}

/** Whether a request is about the platform's own blog rather than the organization's. */
export type AboutPlatform = (content: RawContent) => boolean;

/** Requests of this route that are about the platform's blog need a key with the platform-blog capability. */
export const RequirePlatformBlog = (when: AboutPlatform) => SetMetadata(PLATFORM_BLOG, when);

export function platformBlogOf(handler: object): AboutPlatform | undefined {
  return Reflect.getMetadata(PLATFORM_BLOG, handler) as AboutPlatform | undefined;
}

/** The route needs no key. */
export const Public = () => SetMetadata(ACCESS, { public: true });

/** The access that a handler declares; undefined if it declares none. */
export function accessOf(handler: object): Access | undefined {
  return Reflect.getMetadata(ACCESS, handler) as Access | undefined;
}

/** The authenticated caller: the first argument of every handler that is not public. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>();
  if (!caller) throw new Error('A public route has no caller');
  return caller;
});
