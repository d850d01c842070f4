import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { Request } from 'express';
import type { Scope } from '@app/access';
import { requireScopes } from '../auth/scopes.guard.js';
import { ApiError } from '../errors/api-error.js';
import { Records } from '../lists/records.js';
import type { RecordSet } from '../lists/source.js';
import { toUuid } from '../validation/path-id.js';

/**
 * Requires the scopes that depend on what the record of the path says, and that no change of it can change. A guard, because replays are
 * refused as well: all but that of a DELETE, which tells nothing.
 */
export function storedScopes(shown: RecordSet, scopesOf: (row: object) => Scope[]): Type<CanActivate> {
  @Injectable()
  class StoredScopesGuard implements CanActivate {
    constructor(private readonly records: Records) {}

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const { caller, params } = context.switchToHttp().getRequest<Request>();
      try {
        const { text } = await this.records.get(caller!, shown, toUuid.transform(String(Object.values(params)[0])));
        requireScopes(caller, scopesOf(JSON.parse(text) as object));
      } catch (error) {
        // The write itself answers that there is none.
        if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      }
      return true;
    }
  }
  return StoredScopesGuard;
}
