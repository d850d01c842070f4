import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type NewPasskey, type Shown, SignIn } from '@app/accounts';
import type { Factories } from '../data/factories.js';
import type { TestPortal } from '../portal/portal.js';
import { type Place } from './identity-commands.js';

/** A login that somebody has opened, and its address at that time. */
interface Held {
  by: Place;
  at: Place;
}

interface HeldSession extends Held {
  secret: Buffer;
}

interface HeldPasskey extends Held {
  credentialId: Buffer;
}

interface OpenLogin {
  userId: string;
  email: string;
  verified: boolean;
}

/** What people keep in their browsers and devices: sessions and passkeys, valid or not. */
export class Browsers {
  private readonly sessions: HeldSession[] = [];
  private readonly passkeys: HeldPasskey[] = [];

  constructor(
    private readonly portal: TestPortal,
    private readonly make: Factories,
    private readonly addresses: string[],
  ) {}

  async signIn(by: Place, at: Place, password: string): Promise<void> {
    const login = await this.portal.app.get(SignIn).withPassword(this.addresses[at]!, password);
    if (login) await this.open(by, at, login.id, login);
  }

  /** This person's newest valid session. */
  async session(by: Place): Promise<(HeldSession & OpenLogin) | null> {
    for (const session of this.sessions.toReversed()) {
      const login = session.by === by ? await this.loginOf(session) : null;
      if (login) return { ...session, ...login };
    }
    return null;
  }

  async addPasskey(by: Place): Promise<void> {
    const session = await this.session(by);
    if (!session) return;
    const { credentialId, publicKey, name } = newPasskey(session.userId);
    const [row] = await this.make.query<{ added: boolean }>(
      `SELECT add_passkey($1, $2, $3, $4, 0, '{}', $5) AS added`,
      [session.secret, uuidv7(), credentialId, publicKey, name],
    );
    if (row!.added) this.keepPasskey({ by, at: session.at, credentialId });
  }

  keepPasskey(passkey: HeldPasskey): void {
    this.passkeys.push(passkey);
  }

  /** Signs in with this person's newest valid passkey. */
  async usePasskey(by: Place): Promise<void> {
    for (const { at, credentialId, ...passkey } of this.passkeys.toReversed()) {
      const login = passkey.by === by ? await this.ownerOf(credentialId) : null;
      if (login) return this.open(by, at, login.userId, { credentialId });
    }
  }

  /** Describes a session or passkey that opens a login it should not, or no longer should; null if there is none. */
  async trespass(): Promise<string | null> {
    for (const session of this.sessions) {
      const fault = this.faultOf(session, await this.loginOf(session));
      if (fault) return `a session of person ${session.by} ${fault}`;
    }
    for (const passkey of this.passkeys) {
      const fault = this.faultOf(passkey, await this.ownerOf(passkey.credentialId));
      if (fault) return `a passkey of person ${passkey.by} ${fault}`;
    }
    return null;
  }

  /** The valid sessions and passkeys, in a fixed order. */
  async stillOpen(): Promise<string[]> {
    const open = [];
    for (const session of this.sessions)
      if (await this.loginOf(session)) open.push(`session ${session.by} ${session.at}`);
    for (const passkey of this.passkeys) {
      if (await this.ownerOf(passkey.credentialId)) open.push(`passkey ${passkey.by} ${passkey.at}`);
    }
    return [...new Set(open)].sort();
  }

  private faultOf({ by, at }: Held, login: OpenLogin | null): string | null {
    if (!login) return null;
    if (login.email !== this.addresses[at]) return `outlives address ${at}`;
    return login.verified && by !== at ? `opens the proven address ${at}` : null;
  }

  private async open(by: Place, at: Place, userId: string, shown: Shown): Promise<void> {
    const secret = createHash('sha256').update(randomBytes(32)).digest();
    const [password, passkey] = 'passwordHash' in shown ? [shown.passwordHash, null] : [null, shown.credentialId];
    const [row] = await this.make.query<{ opened: boolean }>(
      `SELECT open_portal_session($1, $2, $3, 'a browser', '192.0.2.0', $4, $5) AS opened`,
      [uuidv7(), secret, userId, password, passkey],
    );
    if (row!.opened) this.sessions.push({ by, at, secret });
  }

  private async loginOf({ secret }: HeldSession): Promise<OpenLogin | null> {
    const [row] = await this.make.query<OpenLogin>(
      `SELECT user_id AS "userId", email, verified FROM portal_session($1)`,
      [secret],
    );
    return row ?? null;
  }

  private async ownerOf(credentialId: Buffer): Promise<OpenLogin | null> {
    const [row] = await this.make.query<OpenLogin>(
      `SELECT u.id AS "userId", u.email, u.email_verified_at IS NOT NULL AS verified
       FROM passkey_by_credential($1) p JOIN users u ON u.id = p.user_id`,
      [credentialId],
    );
    return row ?? null;
  }
}

/** A passkey whose registration has been verified. */
export function newPasskey(loginId: string): NewPasskey {
  const [credentialId, publicKey] = [randomBytes(16), randomBytes(16)];
  return { loginId, credentialId, publicKey, counter: 0, transports: [], name: 'a device' };
}
