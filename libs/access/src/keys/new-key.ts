import { randomBytes } from 'node:crypto';
import sql, { type Sql } from 'sql-template-tag';
import { parseDate } from '@app/database';
import { Refused } from '@app/rules';
import { oneLine } from '@app/people';
import { hashOfToken } from '@app/config';
import type { Scope } from './scopes.js';

/** When a key expires: at an instant, after some days, at the end of a day in the organization's zone, or never. */
export type KeyExpiry = Date | { inDays: number } | { endOf: string } | null;

export interface NewApiKey {
  name: string;
  /** Read-only by default. */
  scopes?: Scope[];
  expiresAt?: KeyExpiry;
  /** Only an operator can give it: the portal's database role cannot write it. */
  platformBlog?: boolean;
  /** Identifies the form: sent twice, it creates one key. */
  formToken?: string;
}

/** How long a replaced key keeps working, in hours. */
export const OVERLAPS = { now: 0, '1h': 1, '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const;

export type Overlap = keyof typeof OVERLAPS;

export const expired = (): Refused => Refused.invalid('Choose today or a later date.', 'expires_at');

/** The form was sent before. Its key exists and cannot be shown again. */
export class KeyMadeBefore extends Error {
  constructor(readonly id: string) {
    super('This form was sent before, and made one key');
  }
}

/** The text of a new key, with 256 random bits, and the values to store. */
export function mintKey(prefix: string): { key: string; keyHash: Buffer; firstFour: string; lastFour: string } {
  const secret = randomBytes(32).toString('hex');
  const key = `${prefix}_live_${secret}`;
  return { key, keyHash: hashOfToken(key), firstFour: secret.slice(0, 4), lastFour: secret.slice(-4) };
}

const LONGEST_NAME = 100;

/** @throws Refused for a name that is blank or that the database would reject */
export function keyName(text: string): string {
  const name = oneLine(text, LONGEST_NAME);
  if (name === null) throw Refused.invalid('Enter a name of 1 to 100 characters, on one line.', 'name');
  return name;
}

/** The instant of an expiry, as SQL: of a day, its last millisecond. @throws Refused for a day that does not exist */
export function expiryOf(organizationId: string, expiry: KeyExpiry): Sql {
  if (expiry === null || expiry instanceof Date) return sql`${expiry?.toISOString() ?? null}::timestamptz`;
  if ('inDays' in expiry) return sql`now() + ${expiry.inDays} * interval '1 day'`;
  if (!parseDate(expiry.endOf)?.wholeDay) throw expired();
  return sql`(${expiry.endOf}::date + 1)::timestamp AT TIME ZONE (
    SELECT time_zone FROM organizations WHERE id = ${organizationId}) - interval '1 millisecond'`;
}
