import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { grants, type Scope } from '@app/access';
import { ApiError } from '../errors/api-error.js';
import { accessOf, platformBlogOf, type RawContent } from './access.decorators.js';
import type { Caller } from './caller.js';

/** Requires the scopes of the route. A route that declares none is denied. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context.getHandler());
    if (access?.public) return true;
    const held = context.switchToHttp().getRequest<Request>().caller?.scopes ?? new Set();
    const required = access?.scopes ?? [];
    const holds = (scope: Scope) => grants(held, scope);
    if (access?.ofBody ? required.some(holds) : required.length > 0 && required.every(holds)) return true;
    throw insufficient(required, held, access?.ofBody ? ' or ' : ', ');
  }
}

/** Requires the scopes that depend on the body. A guard, because these also run before a stored response is replayed. */
@Injectable()
export class ContentGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const access = accessOf(context.getHandler());
    if (!access || access.public || !access.ofBody) return true;
    requireScopes(request.caller, access.ofBody(request.body as never));
    return true;
  }
}

/** @throws ApiError 403 for a caller who lacks one of the scopes. For needs that only the stored record shows. */
export function requireScopes(caller: Caller | undefined, required: Scope[]): void {
  const held = caller?.scopes ?? new Set();
  if (!required.every((scope) => grants(held, scope))) throw insufficient(required, held, ', ');
}

/** @throws ApiError 403 for a request about the platform's blog whose key may not write there */
export function requirePlatformBlog(handler: object, caller: Caller | undefined, content: RawContent): void {
  if (caller?.platformBlog || !platformBlogOf(handler)?.(content)) return;
  throw ApiError.platformBlogRequired();
}

/** The message names the scopes that are missing, not those that the key holds already. */
function insufficient(needed: Scope[], held: ReadonlySet<string>, separator: string): ApiError {
  const missing = needed.filter((scope) => !grants(held, scope));
  return ApiError.insufficientScope(needed, [...held], missing, separator);
}
