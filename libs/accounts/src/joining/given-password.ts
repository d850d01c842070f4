import type { Credential, NewPasskey, Shown } from './identities.js';
import { type Hashing, hashPassword, isPassword } from './passwords.js';

/** How often a password is compared, because another request may have just set or changed the login's. */
export const MOST_COMPARISONS = 3;

/** What somebody accepts an invite with, prepared before anything is locked. */
export interface Given {
  /** A new credential, or the login's current one. null for somebody who is signed in or has used a passkey. */
  credential: Credential | null;
  /** The login's password hash that the given password was compared with. */
  stored: string | null;
  /** Whether it is the login's password. */
  known: boolean;
}

/** The login's password has changed since the given one was compared with it. Rolls the transaction back. */
export class OtherPassword extends Error {
  constructor(readonly stored: string | null) {
    super('The given password was not compared with this login’s');
  }
}

/** Takes equally long for known and unknown addresses. */
export async function prepare(
  who: { password: string } | { passkey: NewPasskey } | object,
  stored: string | null,
  hashing: Hashing,
): Promise<Given> {
  if ('passkey' in who) return { credential: { passkey: who.passkey }, stored, known: false };
  if (!('password' in who)) return { credential: null, stored, known: false };
  const { password } = who;
  return hashing(async () => {
    const known = await isPassword(password, stored);
    return { credential: { hash: await hashPassword(password) }, stored, known };
  });
}

export function shownBy(credential: Credential): Shown {
  return 'hash' in credential ? { passwordHash: credential.hash } : { credentialId: credential.passkey.credentialId };
}
