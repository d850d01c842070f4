import { isCode, isToken, readSecret } from '@app/accounts';

/** A code or token, and the second secret of a mail's link where there is one. */
export interface EnteredSecret {
  secret: string;
  proof: string | null;
}

const LINK = /\/join\/([^/?#\s]+)(?:\?([^#\s]*))?/;

/** Reads what somebody has typed or pasted: a code, a token, or a whole link. null when it cannot be any of them. */
export function readEntered(text: string): EnteredSecret | null {
  const [, path, query] = LINK.exec(text) ?? [];
  const secret = readSecret(path ?? text);
  if (!isCode(secret) && !isToken(secret)) return null;
  return { secret, proof: readProof(new URLSearchParams(query).get('proof')) };
}

/** The `proof` of an address; null when it cannot be one. */
export function readProof(value: unknown): string | null {
  return typeof value === 'string' && isToken(value) ? value : null;
}
