import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { grants, type Scope } from '@app/accounts';
import { ApiError } from '../errors/api-error.js';
import { accessOf } from './access.decorators.js';

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

/** The scopes that the body turns out to need, all or nothing. After the body is known to be valid. */
@Injectable()
export class BodyScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context.getHandler());
    if (!access || access.public || !access.ofBody) return true;
    const request = context.switchToHttp().getRequest<Request>();
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
