import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { TokenBuckets } from '@app/concurrency';
import type { Check, RouteOf } from '@app/serving';
import type { ApiError } from '../errors/api-error.js';
import { KeyLimit } from '../rate-limit/key-limit.js';
import { LOOK_UPS_PER_KEY } from './key-look-ups.js';

/** What a check may know about the route of a request. */
interface MatchedRoute {
  path: string;
  /** undefined for a page that Express serves itself. */
  handler?: object;
}

/** Returns why a request of this organization would be refused for lack of room, or null. Most checks don't need the route. */
export type RoomCheck = (
  organizationId: string,
  request: IncomingMessage,
  routeOf: RouteOf<MatchedRoute>,
) => ApiError | null;

/**
 * Refuses, before Express sees it, what would be refused for lack of room after the look-up of its key. By then a
 * refusal costs ten times as much, and 128 KiB of the body have been read: memory that V8 has to collect.
 */
@Injectable()
export class FullCapacity {
  private readonly lookUps = new TokenBuckets(LOOK_UPS_PER_KEY);
  private readonly checks: RoomCheck[] = [];

  constructor(private readonly keyLimit: KeyLimit) {}

  add(check: RoomCheck): void {
    this.checks.push(check);
  }

  /** The refusal counts against the limit of the key, like every request. */
  readonly refusal: Check<ApiError, MatchedRoute> = (request, _response, routeOf) => {
    const { knownKey } = request as Partial<Pick<Request, 'knownKey'>>;
    if (!knownKey) return null;
    for (const check of this.checks) {
      const refusal = check(knownKey.organizationId, request, routeOf);
      if (!refusal) continue;
      if (this.lookUps.take(knownKey.keyId)) return null;
      this.keyLimit.note(knownKey.keyId);
      return refusal;
    }
    return null;
  };
}
