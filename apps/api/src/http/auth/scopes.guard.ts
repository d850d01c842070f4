import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { grants } from '@app/accounts';
import { ApiError } from '../errors/api-error.js';
import { accessOf } from './access.decorators.js';

/** Lets a request through when its key holds the scopes of the route. A route that declares nothing is denied. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context.getHandler());
    if (access?.public) return true;
    const held = context.switchToHttp().getRequest<Request>().caller?.scopes;
    if (access && held && access.scopes.every((scope) => grants(held, scope))) return true;
    const required = access?.scopes ?? [];
    throw new ApiError(
      'insufficient_scope',
      required.length > 0
        ? `This API key lacks the scope ${required.join(', ')}. Create a key that holds it.`
        : 'This operation is not open to API keys.',
      { required, granted: [...(held ?? [])] },
    );
  }
}
