import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiKeys, type KeyLookup } from '@app/accounts';
import { addressOf, AuthFailureLimit } from '../rate-limit/auth-failure-limit.js';
import { KeyLimit } from '../rate-limit/key-limit.js';
import { MINUTE_MS } from '../rate-limit/sliding-window.js';
import { TokenBuckets } from '../rate-limit/token-buckets.js';
import { isUrgent } from '../request/admission.js';

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

/** `Token token=<key>` or `Token token="<key>"`; the scheme in any case. */
const AUTHORIZATION = /^token +token=(?:"([^"\s]+)"|([^"\s]+))$/i;

/** The key in an Authorization header; null where there is none of this form. */
export function keyIn(authorization = ''): string | null {
  const match = AUTHORIZATION.exec(authorization);
  return match && (match[1] ?? match[2])!;
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
  /** Ids of keys that were valid when last looked up, by hash. */
  private readonly proven = new LRUCache<string, string>({ max: MOST_KEYS });
  /** Hashes of keys that were not. */
  private readonly failed = new LRUCache<string, true>({ max: MOST_KEYS, ttl: MINUTE_MS });
  private readonly ofKeys = new TokenBuckets(PER_KEY);
  private readonly ofAddresses = new TokenBuckets(PER_ADDRESS);

  constructor(
    private readonly keys: ApiKeys,
    private readonly keyLimit: KeyLimit,
    private readonly failures: AuthFailureLimit,
  ) {}

  /**
   * The key with this text, whatever its state; null when there is none.
   *
   * @throws ApiError 429 when the key or the address is over its limit and may not be looked up now
   */
  async find(key: string, request: Request, response: Response): Promise<KeyLookup | null> {
    const hash = this.keys.hash(key);
    if (!hash) return null;
    const name = hash.toString('base64');
    const provenId = this.proven.get(name);
    request.keyId = provenId;
    if (provenId) await this.spareKey(provenId, name, response);
    else await this.spareAddress(addressOf(request), name);
    const found = await this.keys.find(hash, isUrgent(request) ? 'urgent' : 'keys', request.deadline);
    if (found && !found.revoked && !found.expired) {
      this.proven.set(name, found.id);
      this.failed.delete(name);
      request.keyId = found.id;
    } else {
      this.proven.delete(name);
      this.failed.set(name, true);
      request.keyId = undefined;
    }
    return found;
  }

  /** The id of a key that was valid when last looked up; nothing is looked up for it. */
  recall(authorization: string | undefined): string | undefined {
    const key = keyIn(authorization);
    const hash = key === null ? null : this.keys.hash(key);
    return hash ? this.proven.peek(hash.toString('base64')) : undefined;
  }

  private async spareKey(id: string, name: string, response: Response): Promise<void> {
    if (this.keyLimit.isReached(id) && !this.ofKeys.take(name)) await this.keyLimit.count(id, response);
  }

  private async spareAddress(address: string, name: string): Promise<void> {
    if (!this.failures.isReached(address)) return;
    if (this.failed.has(name) || !this.ofAddresses.take(address)) await this.failures.count(address);
  }
}
