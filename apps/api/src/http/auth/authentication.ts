import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeys, type KeyLookup } from '@app/access';
import { Database, type Proof } from '@app/database';
import { ApiError, NotAtHome } from '../errors/api-error.js';
import { Metrics } from '../metrics/metrics.js';
import { Fairness } from '../request/fairness.js';
import type { Caller } from './caller.js';
import { KeyUsage } from './key-usage.js';
import { KnownKeys } from '../request/known-keys.js';

const EXPIRED = 'API key has expired. Create a new key in your org settings.';

/** What a caller was taken for has changed since its key was last looked up. The read runs again. */
export class CallerChanged extends Error {}

/**
 * Finds out who is asking. Validity is never cached: a revocation takes effect with its commit. The look-up of a known key is the first
 * statement of a read's own transaction (13 to 21 % less CPU for a read).
 */
@Injectable()
export class Authentication {
  constructor(
    private readonly db: Database,
    private readonly keys: ApiKeys,
    private readonly known: KnownKeys,
    private readonly fairness: Fairness,
    private readonly usage: KeyUsage,
    private readonly metrics: Metrics,
  ) {}

  /** Looks up the caller. @throws ApiError 401, and 421 for an organization that has moved */
  async identify(request: Request): Promise<Caller> {
    const { hash } = this.known.of(request);
    const found = hash && (await this.keys.find(hash, request.deadline));
    const key = this.accept(request, found);
    await request.turn?.moveTo(this.fairness.turns, key.organizationId);
    return toCaller(key, request);
  }

  /** The caller of a read as it was when its key was last looked up, still to be proven; null for an unknown key. */
  presume(request: Request): Caller | null {
    const { hash, known } = this.known.of(request);
    if (!hash || !known) return null;
    const caller: Caller = { ...toCaller(known, request), replica: true };
    const proof: Proof = (caller.proof = {
      statement: ApiKeys.lookUp(hash),
      settled: false,
      settle: (rows: object[]) => {
        const key = this.accept(request, ApiKeys.found(rows));
        if (key.organizationId !== known.organizationId) throw unknownKey();
        proof.settled = true;
        if (identityOf(key) === identityOf(known)) return;
        Object.assign(caller, toCaller(key, request), { proof });
        throw new CallerChanged();
      },
    });
    return caller;
  }

  /** Proves a presumed caller whom no read has proven yet. @throws ApiError 401 */
  async prove({ caller, deadline }: Request): Promise<void> {
    if (caller?.proof?.settled !== false) return;
    const rows = await this.db.lookUp(caller.proof.statement, deadline);
    try {
      caller.proof.settle(rows);
    } catch (error) {
      if (!(error instanceof CallerChanged)) throw error;
    }
  }

  /** @throws ApiError 401 */
  private accept(request: Request, key: KeyLookup | null): KeyLookup {
    const { hash } = this.known.of(request);
    const refusal = refusalOf(request, hash, key);
    if (hash) this.known.remember(hash, refusal ? null : key);
    request.keyIds = refusal ? undefined : { keyId: key!.id, organizationId: key!.organizationId };
    this.metrics.authentications.inc({ outcome: refusal?.code ?? 'ok' });
    if (refusal) {
      request.caller = undefined;
      throw refusal;
    }
    if (key!.away) throw new NotAtHome(key!.away);
    if (!key!.usedThisMinute) this.usage.note(key!.organizationId, key!.id);
    return key!;
  }
}

function refusalOf({ headers }: Request, hash: Buffer | null, key: KeyLookup | null): ApiError | null {
  if ((headers.authorization ?? '').trim() === '') {
    return refusal('missing_api_key', 'Send your API key: "Authorization: Token token=<API_KEY>".');
  }
  if (!hash) return refusal('invalid_api_key', 'The Authorization header must be "Token token=<API_KEY>".');
  if (!key) return unknownKey();
  if (key.revoked) {
    return refusal('revoked_api_key', 'This API key was revoked. Use another key of your organization.');
  }
  return key.expired ? refusal('expired_api_key', EXPIRED) : null;
}

const unknownKey = () => refusal('invalid_api_key', 'Unknown API key. Check that you copied it completely.');

function refusal(code: 'missing_api_key' | 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key', message: string) {
  return new ApiError(code, message, {}, { 'WWW-Authenticate': 'Token' });
}

/** Everything about a key that its reads depend on. */
function identityOf({ scopes, platformBlog, organization }: KeyLookup): string {
  return [platformBlog, ...scopes, ...Object.values(organization)].join('\n');
}

function toCaller(key: KeyLookup, { route, path, deadline }: Request): Caller {
  return {
    keyId: key.id,
    organizationId: key.organizationId,
    scopes: new Set(key.scopes),
    platformBlog: key.platformBlog,
    route: (route as { path: string } | undefined)?.path ?? path,
    organization: key.organization,
    deadline,
  };
}
