import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { Scope } from '@app/accounts';
import type { Caller } from './caller.js';

const ACCESS = 'access';

/** What a route asks of whoever calls it. */
export type Access = { public: true } | { public: false; scopes: Scope[]; ofBody?: ScopesOfBody };

/** Which scopes a body, once it is valid, needs. The body is an instance of the handler's own request class. */
export type ScopesOfBody = (body: never) => Scope[];

/** The route needs a key that holds every one of these scopes, directly or through the umbrella. */
export const RequireScopes = (...scopes: [Scope, ...Scope[]]) => SetMetadata(ACCESS, { public: false, scopes });

/**
 * The route needs some of these scopes; which, only its body tells. A key with none of them is refused before the body
 * is read, one that lacks any of those needed before anything is done.
 */
export const RequireAnyScope = (scopes: [Scope, Scope, ...Scope[]], ofBody: ScopesOfBody) =>
  SetMetadata<string, Access>(ACCESS, { public: false, scopes, ofBody });

const PLATFORM_BLOG = 'platform blog';

/** A request as it came: 403 comes before 422, so nothing of it is known to be valid. */
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

/** The access that a handler declares; undefined when it declares none. */
export function accessOf(handler: object): Access | undefined {
  return Reflect.getMetadata(ACCESS, handler) as Access | undefined;
}

/** The caller that the API-key guard found: the first argument of every handler that is not public. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>();
  if (!caller) throw new Error('A public route has no caller');
  return caller;
});
