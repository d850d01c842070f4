import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiKeys, type KeyLookup } from '@app/accounts';
import type { Check } from '@app/serving';
import type { ApiError } from '../errors/api-error.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthFailureLimit } from '../rate-limit/auth-failure-limit.js';
import { KeyLimit } from '../rate-limit/key-limit.js';
import { MINUTE_MS } from '../rate-limit/sliding-window.js';
import { TokenBuckets } from '../rate-limit/token-buckets.js';
import type { KeyIds } from '../request/access-log.js';
import { isUrgent } from '../request/urgent.js';

/** `Token token=<key>` or `Token token="<key>"`; the scheme in any case. */
const AUTHORIZATION = /^token +token=(?:"([^"\s]+)"|([^"\s]+))$/i;

/**
 * Lookups allowed for a key over its limit. Ten a second cost the database next to nothing (0.1 ms each), and such a
 * key learns of its revocation within 100 ms.
 */
const PER_KEY = { perSecond: 10, burst: 10 };
/**
 * The same for an address with too many failures: no more than its limit allows (60 a minute), so that continuing gains
 * nothing, and enough at once for the new keys of a school.
 */
const PER_ADDRESS = { perSecond: 1, burst: 10 };

/** Keys remembered: about 3 MB. A forgotten key merely counts as unproven again. */
const MOST_KEYS = 10_000;

/** Kept with the request, which takes at most one token. */
const LOOK_UP = Symbol('look-up');

/** What is known of a request's key without asking the database. */
interface LookUp {
  /** null for what cannot be a key. */
  hash: Buffer | null;
  /** Whose it is; undefined unless it was valid when last looked up. */
  key?: KeyIds;
  /** Why the key may not be looked up. */
  refusal: ApiError | null;
}

/**
 * Looks API keys up, unless the request will be refused with 429 whatever the look-up says. A key's validity is never
 * remembered, only what keeps it from being looked up too often:
 *
 * - A key over its limit is looked up ten times a second at most, and refused in between. So it learns of its
 *   revocation (401 comes before 429) after 100 ms at the latest, and never gets more than a 429.
 * - From an address that failed too often, a key that worked lately is looked up at once. One that failed within the
 *   last minute is refused, so that a script with a wrong key uses up nothing. All others share one look-up a
 *   second, after ten at once.
 */
@Injectable()
export class KeyLookUps {
  /** Keys that were valid when last looked up, by hash. */
  private readonly proven = new LRUCache<string, KeyIds>({ max: MOST_KEYS });
  /** Hashes of keys that were not. */
  private readonly failed = new LRUCache<string, true>({ max: MOST_KEYS, ttl: MINUTE_MS });
  private readonly ofKeys = new TokenBuckets(PER_KEY);
  private readonly ofAddresses = new TokenBuckets(PER_ADDRESS);

  constructor(
    private readonly keys: ApiKeys,
    private readonly keyLimit: KeyLimit,
    private readonly failures: AuthFailureLimit,
    private readonly metrics: Metrics,
  ) {}

  /** Refuses a request whose key or address is known to be over its limit, before Express sees it. */
  readonly refusal: Check<ApiError, { path: string; public: boolean }> = (request, _response, routeOf) => {
    // A preflight has no key.
    if (request.method === 'OPTIONS') return null;
    const { refusal, key } = this.lookUpOf(request);
    if (key) (request as Partial<Pick<Request, 'knownKey'>>).knownKey = key;
    if (!refusal) return null;
    // Where there is no route, a request needs no key, but one with a valid key counts.
    const route = routeOf();
    if (route ? route.public : !key) return null;
    this.metrics.authentications.inc({ outcome: refusal.code });
    return refusal;
  };

  /**
   * The key of a request, whatever its state; null when there is none.
   *
   * @throws ApiError 429 when the key may not be looked up now
   */
  async find(request: Request): Promise<KeyLookup | null> {
    const { hash, refusal } = this.lookUpOf(request);
    if (!hash) return null;
    if (refusal) throw refusal;
    const found = await this.keys.find(hash, isUrgent(request) ? 'urgent' : 'keys', request.deadline);
    const name = nameOf(hash);
    if (found && !found.revoked && !found.expired) {
      request.knownKey = { keyId: found.id, organizationId: found.organizationId };
      this.proven.set(name, request.knownKey);
      this.failed.delete(name);
    } else {
      this.proven.delete(name);
      this.failed.set(name, true);
      request.knownKey = undefined;
    }
    return found;
  }

  private lookUpOf(request: IncomingMessage & { [LOOK_UP]?: LookUp }): LookUp {
    return (request[LOOK_UP] ??= this.decide(request));
  }

  private decide(request: IncomingMessage): LookUp {
    const text = keyOf(request);
    const hash = text === null ? null : this.keys.hash(text);
    const name = hash && nameOf(hash);
    const key = name === null ? undefined : this.proven.get(name);
    if (name !== null && key) {
      const refusal = this.keyLimit.refusal(key.keyId);
      return { hash, key, refusal: refusal && !this.ofKeys.take(name) ? refusal : null };
    }
    const address = this.failures.addressOf(request);
    const refusal = this.failures.refusal(address);
    const mayTry = name !== null && !this.failed.has(name);
    return { hash, refusal: refusal && !(mayTry && this.ofAddresses.take(address)) ? refusal : null };
  }
}

/** The text of a request's key; null unless the header has the form that it must have. */
export function keyOf({ headers }: IncomingMessage): string | null {
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  return match?.[1] ?? match?.[2] ?? null;
}

function nameOf(hash: Buffer): string {
  return hash.toString('base64');
}
