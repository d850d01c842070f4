import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { TokenBuckets } from '@app/concurrency';
import type { Check } from '@app/serving';
import { LOOK_UPS_PER_KEY } from '../auth/key-look-ups.js';
import type { ApiError } from '../errors/api-error.js';
import { KeyLimit } from '../rate-limit/key-limit.js';
import { FULL, LargeAnswers } from './large-answers.js';

/** Refuses pages that {@link LargeAnswers} would refuse before Express sees them, which would cost ten times as much. */
@Injectable()
export class FullLists {
  private readonly lookUps = new TokenBuckets(LOOK_UPS_PER_KEY);

  constructor(
    private readonly large: LargeAnswers,
    private readonly keyLimit: KeyLimit,
  ) {}

  /** The refusal counts against the limit of the key, like every request. */
  readonly refusal: Check<ApiError, { path: string }> = (request, _response, routeOf) => {
    const { knownKey } = request as Partial<Pick<Request, 'knownKey'>>;
    if (!knownKey || (request.method !== 'GET' && request.method !== 'HEAD')) return null;
    const isFull = this.large.isFull(knownKey.organizationId, () => routeOf()?.path);
    if (!isFull || this.lookUps.take(knownKey.keyId)) return null;
    this.keyLimit.note(knownKey.keyId);
    return FULL;
  };
}
