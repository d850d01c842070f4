import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Vault } from '@app/config';
import type { Position } from '@app/database';
import { ValidationFailed } from '../errors/api-error.js';

export const CURSOR_START = 'start';

/** 40 bytes in base64url. */
const SEALED = '[A-Za-z0-9_-]{54}';

/** A cursor, or a word for one of these places. */
export const cursorForm = (...words: string[]): RegExp => new RegExp(`^(${words.join('|')}|${SEALED})$`);

export const CURSOR_FORM = cursorForm(CURSOR_START);

/** What a cursor was issued for. It is rejected for anything else. */
export interface CursorUse {
  organizationId: string;
  list: string;
  /** In the order of their declaration, however the query orders them. */
  filters: Record<string, unknown>;
}

/** A row, by a number and its id. */
export interface Place {
  number: bigint;
  id: string;
}

/** Opaque cursors: milliseconds, id, and an HMAC over both, the organization, the list and its filters, so foreign ones are rejected. */
@Injectable()
export class Cursors {
  /** Not its bytes, from which each HMAC would make a key again: five times the CPU. */
  private readonly key: KeyObject;

  constructor(vault: Vault) {
    this.key = createSecretKey(vault.derive('list cursors'));
  }

  encode(position: Position, use: CursorUse): string {
    return this.seal({ number: BigInt(position.at.getTime()), id: position.id }, use);
  }

  /** A cursor for any place that a number and an id name. */
  seal({ number, id }: Place, use: CursorUse): string {
    const place = Buffer.alloc(24);
    place.writeBigInt64BE(number);
    place.write(id.replaceAll('-', ''), 8, 'hex');
    return Buffer.concat([place, this.sign(place, use)]).toString('base64url');
  }

  /** @throws ValidationFailed at `query.cursor` */
  decode(cursor: string, use: CursorUse): Position {
    const place = this.open(cursor, use);
    if (place) return { at: new Date(Number(place.number)), id: place.id };
    const msg = 'This cursor belongs to another list or to other filters. Start over with cursor=start.';
    throw new ValidationFailed([{ loc: ['query', 'cursor'], msg, type: 'value_error' }]);
  }

  /** The place that a cursor of this form names; null if it was not sealed for this use. */
  open(cursor: string, use: CursorUse): Place | null {
    const bytes = Buffer.from(cursor, 'base64url');
    const place = bytes.subarray(0, 24);
    // Compared as text too: base64url has several spellings of the same last bits.
    if (bytes.toString('base64url') !== cursor || !timingSafeEqual(bytes.subarray(24), this.sign(place, use)))
      return null;
    const id = place.toString('hex', 8).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { number: place.readBigInt64BE(), id };
  }

  /** The place without its number, which counts what all organizations do, or with it again. */
  masked({ number, id }: Place): Place {
    const mask = createHmac('sha256', this.key).update(`number of ${id}`).digest().readBigInt64BE();
    return { number: number ^ mask, id };
  }

  private sign(place: Buffer, { organizationId, list, filters }: CursorUse): Buffer {
    return createHmac('sha256', this.key)
      .update(place)
      .update(JSON.stringify([organizationId, list, filters]))
      .digest()
      .subarray(0, 16);
  }
}
