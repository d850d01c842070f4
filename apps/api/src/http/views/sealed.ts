import { randomBytes } from 'node:crypto';
import type { Vault } from '@app/config';
import { type Column, text } from './columns.js';
import { code } from './schemas.js';

/** Before each encrypted value in what PostgreSQL builds. It cannot be guessed, so no text of a record passes for one. */
const MARK = `sealed-${randomBytes(16).toString('hex')}-`;

const SEALED = new RegExp(`"${MARK}([0-9a-f]+)"`, 'g');

/** A join code that is stored encrypted; {@link unsealed} decrypts it. */
export function joinCode(sql: string): Column {
  const sealed = text(`'${MARK}' || encode(${sql}, 'hex')`, 'K7MQ2XWP9TRV');
  return { ...sealed, schema: code(sealed.schema) };
}

/** The JSON of views with their encrypted values as they are stored: the same for all readers and processes. */
export const asStored = (json: string): string => json.replaceAll(MARK, '');

/**
 * The JSON of views with their encrypted values in plain; null for one that was encrypted with an earlier key.
 *
 * @param shown false for a reader to whom they are null
 */
export function unsealed(json: string, vault: Vault, shown: boolean): string {
  if (!json.includes(MARK)) return json;
  return json.replaceAll(SEALED, (_, hex: string) => {
    if (!shown) return 'null';
    try {
      return JSON.stringify(vault.open('join codes', Buffer.from(hex, 'hex')));
    } catch {
      return 'null';
    }
  });
}
