import { Injectable } from '@nestjs/common';
import { normalizeEmail } from '@app/database';
import { Identities } from './identities.js';
import { isPassword } from './passwords.js';

/** Signing in with a password. */
@Injectable()
export class SignIn {
  constructor(private readonly identities: Identities) {}

  /** The login with this address and password. Known and unknown addresses take equally long. */
  async withPassword(
    email: string,
    password: string,
  ): Promise<{ id: string; verified: boolean; passwordHash: string } | null> {
    const { id, verified = false, passwordHash = null } = (await this.identities.find(normalizeEmail(email))) ?? {};
    const right = await isPassword(password, passwordHash);
    return right && id && passwordHash ? { id, verified, passwordHash } : null;
  }
}
