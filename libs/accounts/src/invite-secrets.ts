import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import type { Vault } from '@app/config';

/** Without 0 O 1 I L, because codes are read aloud and typed. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 10;
const CODE = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`);
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** 256 random bits, for links. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join('');
}

/** A token as it is; a code regardless of case, whitespace and dashes. */
export function readSecret(text: string): string {
  const code = text.replaceAll(/[\s\p{Dash_Punctuation}\p{Format}]/gu, '').toUpperCase();
  return CODE.test(code) ? code : text.trim();
}

/** Whether this can be a code, which is short enough to be guessed, as {@link readSecret} returns it. */
export function isCode(secret: string): boolean {
  return CODE.test(secret);
}

/** Whether this can be a token. */
export function isToken(secret: string): boolean {
  return TOKEN.test(secret);
}

/**
 * How secrets are stored. A code has 49 bits, which could be brute-forced from a leaked table, so its hash is keyed
 * with a secret outside the database. A plain hash is enough for the 256 bits of a token.
 */
export function hashOfSecret(secret: string, vault: Vault): Buffer {
  const hash = isCode(secret) ? createHmac('sha256', vault.derive('join code hashes')) : createHash('sha256');
  return hash.update(secret).digest();
}
