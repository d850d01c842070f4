import { type Credential, type NewPasskey, type UsedCredential, hashAs, type Hashing, hashPassword } from '@app/people';

/** How often a password is hashed, because another request may have just set or changed the login's. */
export const MOST_COMPARISONS = 3;

/** What somebody accepts an invite with, prepared before anything is locked. */
export interface PreparedCredential {
  /** A new credential, or the login's current one. null for somebody who is signed in or has used a passkey. */
  credential: Credential | null;
  /** The salt of the login's password, and the hash of the given one with it. */
  salt: string | null;
  hash: string | null;
}

/** The login's password has changed since the given one was hashed like it. Rolls the transaction back. */
export class OtherPassword extends Error {
  constructor(readonly salt: string | null) {
    super('The given password was not hashed like this login’s');
  }
}

/** Takes equally long for known and unknown addresses. */
export async function prepare(
  who: { password: string } | { passkey: NewPasskey } | object,
  salt: string | null,
  hashing: Hashing,
): Promise<PreparedCredential> {
  if ('passkey' in who) return { credential: { passkey: who.passkey }, salt, hash: null };
  if (!('password' in who)) return { credential: null, salt, hash: null };
  const { password } = who;
  return hashing(async () => {
    const hash = await hashAs(password, salt);
    return { credential: { hash: await hashPassword(password) }, salt, hash };
  });
}

export function usedCredential(credential: Credential): UsedCredential {
  return 'hash' in credential ? { passwordHash: credential.hash } : { credentialId: credential.passkey.credentialId };
}
