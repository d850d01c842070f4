import { createHmac, randomInt } from 'node:crypto';
import { hashOfToken, type Vault } from '@app/config';

/** Without 0 O 1 I L, because codes are read aloud and typed. */
const CODE_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
/** At 2,000 guesses a second, finding one of a million valid codes takes 12 years, without any limit on guesses. */
const CODE_LENGTH = 12;
const CODE = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`);
const TOKEN = /^[\w-]{43}$/;

export function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join('');
}

/** Normalizes a code's case, whitespace and dashes. Returns a token unchanged. */
export function readSecret(text: string): string {
  const code = text.replaceAll(/[\s\p{Dash_Punctuation}\p{Format}]/gu, '').toUpperCase();
  return CODE.test(code) ? code : text.trim();
}

/** Whether this, as returned by {@link readSecret}, can be a code, which is short enough to be guessed. */
export function isCode(secret: string): boolean {
  return CODE.test(secret);
}

/** Whether this can be a token. */
export function isToken(secret: string): boolean {
  return TOKEN.test(secret);
}

/** How secrets are stored. A code's 59 bits could be guessed from a leaked table, so the hash is keyed with a secret outside of it. */
export function hashOfSecret(secret: string, vault: Vault): Buffer {
  if (!isCode(secret)) return hashOfToken(secret);
  return createHmac('sha256', vault.derive('join code hashes')).update(secret).digest();
}
