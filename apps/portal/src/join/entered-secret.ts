import { isCode, isToken, readSecret } from '@app/people';

/** A code or token, and the second secret if it came with a mail's link. */
export interface EnteredSecret {
  secret: string;
  proof: string | null;
}

const LINK = /\/join\/([^/?#\s]+)(?:\?([^#\s]*))?/;

/** Reads what somebody typed or pasted: a code, a token, or a whole link. @returns null if it cannot be any of these */
export function readEntered(text: string): EnteredSecret | null {
  const [, path, query] = LINK.exec(text) ?? [];
  const secret = readSecret(path ?? text);
  if (!isCode(secret) && !isToken(secret)) return null;
  return { secret, proof: readProof(new URLSearchParams(query).get('proof')) };
}

/** The `proof` of an address; null if the value cannot be one. */
export function readProof(value: unknown): string | null {
  return typeof value === 'string' && isToken(value) ? value : null;
}
