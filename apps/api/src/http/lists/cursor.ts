import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Vault } from '@app/config';
import type { Position } from '@app/database';
import { ValidationFailed } from '../errors/api-error.js';

export const CURSOR_START = 'start';

/** `start`, or 40 bytes in base64url. */
export const CURSOR_FORM = /^(start|[A-Za-z0-9_-]{54})$/;

/** What a cursor was issued for. It is rejected for anything else. */
export interface CursorUse {
  organizationId: string;
  list: string;
  /** In the order of their declaration, however the query orders them. */
  filters: Record<string, unknown>;
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
    const place = Buffer.alloc(24);
    place.writeBigInt64BE(BigInt(position.at.getTime()));
    place.write(position.id.replaceAll('-', ''), 8, 'hex');
    return Buffer.concat([place, this.sign(place, use)]).toString('base64url');
  }

  /** @throws ValidationFailed at `query.cursor` */
  decode(cursor: string, use: CursorUse): Position {
    const bytes = Buffer.from(cursor, 'base64url');
    const place = bytes.subarray(0, 24);
    // Compared as text too: base64url has several spellings of the same last bits.
    if (bytes.toString('base64url') !== cursor || !timingSafeEqual(bytes.subarray(24), this.sign(place, use))) {
      const msg = 'This cursor belongs to another list or to other filters. Start over with cursor=start.';
      throw new ValidationFailed([{ loc: ['query', 'cursor'], msg, type: 'value_error' }]);
    }
    const id = place.toString('hex', 8).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { at: new Date(Number(place.readBigInt64BE())), id };
  }

  private sign(place: Buffer, { organizationId, list, filters }: CursorUse): Buffer {
    return createHmac('sha256', this.key)
      .update(place)
      .update(JSON.stringify([organizationId, list, filters]))
      .digest()
      .subarray(0, 16);
  }
}
