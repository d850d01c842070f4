import { isCode, isToken, readSecret } from '@app/people';

/** A code or token, and the second secret if it came with a mail's link. */
export interface EnteredSecret {
  secret: string;
  proof: string | null;
}

/** A link in any text: what is pasted with it, such as a full stop, quotes or brackets, is no part of its secrets. */
const LINK = /\/join\/([\w\p{Dash_Punctuation}\p{Format}]+)(?:\?(?:[^#\s]*&)?proof=([\w-]{43}))?/iu;
/** A text up to its last letter or digit, and from its first one on. */
const [ENDED, WITHIN] = [/.*[\p{L}\p{N}]/su, /[\p{L}\p{N}].*/su];

/** Reads what somebody typed or pasted: a code, a token, or a whole link. @returns null if it cannot be any of these */
export function readEntered(text: string): EnteredSecret | null {
  const [, path, proof] = LINK.exec(text) ?? [];
  const pasted = path ?? text;
  const ended = ENDED.exec(pasted)?.[0] ?? '';
  // As it is first: a token may begin or end with a dash.
  const candidates = [pasted, ended, WITHIN.exec(ended)?.[0] ?? ''].map(readSecret);
  const secret = candidates.find((one) => isCode(one) || isToken(one));
  return secret === undefined ? null : { secret, proof: readProof(proof) };
}

/** The `proof` of an address; null if the value cannot be one. */
export function readProof(value: unknown): string | null {
  return typeof value === 'string' && isToken(value) ? value : null;
}
