import { Injectable } from '@nestjs/common';
import { normalizeEmail } from '@app/database';
import { Identities } from './identities.js';
import { hashAs } from './passwords.js';

/** Signing in with a password. */
@Injectable()
export class SignIn {
  constructor(private readonly identities: Identities) {}

  /** The login with this address and password. Known and unknown addresses take equally long. */
  async withPassword(
    email: string,
    password: string,
  ): Promise<{ id: string; verified: boolean; passwordHash: string } | null> {
    const {
      id = null,
      verified = false,
      passwordSalt = null,
    } = (await this.identities.find(normalizeEmail(email))) ?? {};
    const passwordHash = await hashAs(password, passwordSalt);
    return (await this.identities.opens(id, passwordHash)) && id ? { id, verified, passwordHash } : null;
  }
}
