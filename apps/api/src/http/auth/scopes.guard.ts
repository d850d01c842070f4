import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { grants, type Scope } from '@app/accounts';
import { ApiError } from '../errors/api-error.js';
import { accessOf, platformBlogOf } from './access.decorators.js';

/** Lets a request through when its key holds the scopes of the route. A route that declares nothing is denied. */
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

/**
 * What a valid request turns out to need: the scopes of its body, all or nothing, and the platform-blog capability. Whatever
 * authorizes a request is a guard's, because guards also run before a stored answer is replayed.
 */
@Injectable()
export class ContentGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (platformBlogOf(context.getHandler())?.(request) && !request.caller?.platformBlog) {
      throw new ApiError(
        'platform_blog_required',
        'Only keys with the platform-blog capability may write to the platform’s sites. Leave target out, or give org.',
      );
    }
    const access = accessOf(context.getHandler());
    if (!access || access.public || !access.ofBody) return true;
    const required = access.ofBody(request.body as never);
    const held = request.caller?.scopes ?? new Set();
    if (required.every((scope) => grants(held, scope))) return true;
    throw insufficient(required, held, ', ');
  }
}

function insufficient(required: Scope[], held: ReadonlySet<string>, separator: string): ApiError {
  return new ApiError(
    'insufficient_scope',
    required.length > 0
      ? `This API key lacks the scope ${required.join(separator)}. Create a key that holds it.`
      : 'This operation is not open to API keys.',
    { required, granted: [...held] },
  );
}
