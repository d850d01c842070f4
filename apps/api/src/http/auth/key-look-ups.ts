import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiKeys, type KeyLookup } from '@app/accounts';
import { TokenBuckets } from '@app/concurrency';
import type { Check } from '@app/serving';
import type { ApiError } from '../errors/api-error.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthFailureLimit } from '../rate-limit/auth-failure-limit.js';
import { KeyLimit } from '../rate-limit/key-limit.js';
import { MINUTE_MS } from '../rate-limit/sliding-window.js';
import type { KeyIds } from '../request/access-log.js';
import { isUrgent } from '../request/urgent.js';

/** `Token token=<key>` or `Token token="<key>"`; the scheme in any case. */
const AUTHORIZATION = /^token +token=(?:"([^"\s]+)"|([^"\s]+))$/i;

/**
 * Look-ups allowed for a key whose requests are refused whatever the result. Ten a second cost the database next to nothing
 * (0.1 ms each), and such a key learns of its revocation within 100 ms.
 */
export const LOOK_UPS_PER_KEY = { perSecond: 10, burst: 10 };
/**
 * The same for an address with too many failures: not above its own limit (60 a minute), so that persistence gains
 * nothing. The burst is large enough for a school's new keys.
 */
const PER_ADDRESS = { perSecond: 1, burst: 10 };

/** Keys to remember, which take about 3 MB. A forgotten key merely counts as unproven again. */
const MOST_KEYS = 10_000;

/** Stored on the request, so that it takes at most one token. */
const LOOK_UP = Symbol('look-up');

/** What is known about a request's key without querying the database. */
interface LookUp {
  /** null when the text cannot be a key. */
  hash: Buffer | null;
  /** The key and its owner; undefined unless it was valid when last looked up. */
  key?: KeyIds;
  /** Why the key may not be looked up. */
  refusal: ApiError | null;
}

/**
 * Looks up API keys, unless the request will get 429 whatever the result. Validity is never cached, only what limits
 * how often a key is looked up:
 *
 * - A key over its limit is looked up at most ten times a second and gets 429 in between. A revocation still shows
 *   within 100 ms, because 401 comes before 429.
 * - From an address with too many failures, a key that worked recently is looked up at once. A key that failed within
 *   the last minute is refused without a look-up, so that a script with a wrong key uses up no tokens. All others
 *   share one look-up a second, after a burst of ten.
 */
@Injectable()
export class KeyLookUps {
  /** Keys that were valid when last looked up, by hash. */
  private readonly proven = new LRUCache<string, KeyIds>({ max: MOST_KEYS });
  /** Hashes of keys that were not. */
  private readonly failed = new LRUCache<string, true>({ max: MOST_KEYS, ttl: MINUTE_MS });
  private readonly ofKeys = new TokenBuckets(LOOK_UPS_PER_KEY);
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
    // An unknown path needs no key, but a request with a valid key counts against its limit.
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

/** The text of a request's key; null when the header is missing or malformed. */
export function keyOf({ headers }: IncomingMessage): string | null {
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  return match?.[1] ?? match?.[2] ?? null;
}

function nameOf(hash: Buffer): string {
  return hash.toString('base64');
}
