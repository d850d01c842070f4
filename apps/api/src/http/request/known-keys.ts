import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ApiKeys, type KeyLookup } from '@app/access';

/** `Token token=<key>` or `Token token="<key>"`; the scheme in any case. */
const AUTHORIZATION = /^token +token=(?:"([^"\s]+)"|([^"\s]+))$/i;

/** Keys to remember, which take about 5 MB. A forgotten key merely needs a look-up of its own again. */
const MOST_KEYS = 10_000;

/** Stored on the request, so that its key is hashed once. */
const PRESENTED = Symbol('presented key');

/** The key that a request presents. */
export interface PresentedKey {
  /** null when the header is missing or malformed. */
  hash: Buffer | null;
  /** The key as it was when last looked up, if it was valid then. */
  known: KeyLookup | undefined;
}

/** Whose key each hash is, so that a request has an owner before anything is looked up. Validity is never remembered. */
@Injectable()
export class KnownKeys {
  private readonly known = new LRUCache<string, KeyLookup>({ max: MOST_KEYS });

  constructor(private readonly keys: ApiKeys) {}

  of(request: IncomingMessage & { [PRESENTED]?: PresentedKey }): PresentedKey {
    return (request[PRESENTED] ??= this.read(request.headers.authorization));
  }

  /** @param key null when it is not valid */
  remember(hash: Buffer, key: KeyLookup | null): void {
    if (key) this.known.set(nameOf(hash), key);
    else this.known.delete(nameOf(hash));
  }

  private read(header = ''): PresentedKey {
    const match = AUTHORIZATION.exec(header);
    const text = match?.[1] ?? match?.[2];
    const hash = text === undefined ? null : this.keys.hash(text);
    return { hash, known: hash ? this.known.get(nameOf(hash)) : undefined };
  }
}

const nameOf = (hash: Buffer): string => hash.toString('latin1');
