import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Env, hashOfToken, newToken, Vault } from '@app/config';
import { Database, normalizeEmail } from '@app/database';
import { type EmailLink, sealEmail } from '@app/jobs';
import { CredentialNotices } from './credential-notices.js';
import { type Credentials, Identities, type UsedCredential, type UsedPasskey } from './identities.js';
import { hashAs, type Hashing, hashPassword, unlimited } from './passwords.js';
import { ownSender } from './own-sender.js';

const HOUR = 3_600_000;
/** Lifetimes of links that people requested, links that confirm an address, and links from the operator (ms). */
const ASKED_FOR = HOUR;
const CONFIRMATION = 24 * HOUR;
const HANDED_OUT = 7 * 24 * HOUR;

/** The login whose password a link sets. */
export interface LinkedLogin {
  email: string;
  /** The login is in use but its address is not proven: whoever has its current credential keeps everything. */
  unproven: boolean;
  credentials: Credentials;
}

interface Link {
  userId: string;
  email: string;
  unproven: boolean;
  passwordSalt: string | null;
  passkeys: boolean;
}

/** What comes with a link: the current or a new password, or one of the login's passkeys that was just used. */
export type LinkCredential = { password: string; replaces?: boolean } | UsedPasskey;

/** Links for setting a password. They prove the address, because whoever has one reads its mail. */
@Injectable()
export class PasswordLinks {
  constructor(
    private readonly db: Database,
    private readonly env: Env,
    private readonly vault: Vault,
    private readonly notices: CredentialNotices,
    private readonly identities: Identities,
  ) {}

  /** Requests a mail with a link for the login with this address, if any. The worker looks it up later, so the duration reveals nothing. */
  async request(kind: 'password_reset' | 'address_confirmation', address: string): Promise<void> {
    const life = kind === 'password_reset' ? ASKED_FOR : CONFIRMATION;
    const { secret, url, expiresAt } = this.make(life);
    await this.requestMail(kind, address, { url, expiresAt }, life, hashOfToken(secret));
  }

  /** Requests a warning that somebody is guessing the password of the login with this address, likewise. */
  async warn(address: string): Promise<void> {
    await this.requestMail('wrong_passwords', address, { url: `${this.env.portalUrl}/account` }, HOUR, null);
  }

  /** Queues the requested mails and deletes the requests, those for unknown addresses too. Only the worker may. */
  async resolve(): Promise<void> {
    let row: { resolved: number } | undefined;
    do [row] = await this.db.lookUp<{ resolved: number }>(sql`SELECT resolve_password_links() AS resolved`);
    while (row!.resolved > 0);
  }

  /** A link for somebody whom the operator vouches for. Runs as the owner of the database. */
  async handOut(userId: string): Promise<{ url: string; expiresAt: Date }> {
    const { secret, url, expiresAt } = this.make(HANDED_OUT);
    await this.db.lookUp(
      sql`SELECT add_password_link(${hashOfToken(secret)}, ${userId}, ${`${HANDED_OUT} ms`}::interval)`,
    );
    return { url, expiresAt };
  }

  /** The login of a link; null when it is used, expired or unknown. Changes nothing. */
  async look(secret: string): Promise<LinkedLogin | null> {
    const link = await this.find(secret);
    if (!link) return null;
    const { email, unproven, passwordSalt, passkeys } = link;
    return { email, unproven, credentials: { password: passwordSalt !== null, passkeys } };
  }

  /**
   * Proves the address and sets the password if it is new. Works once, and ends every session of the login; null if the link no longer works.
   * `other_password`: the login is in use with another password but not proven, and nobody has agreed to replace it.
   */
  async use(
    secret: string,
    credential: LinkCredential,
    hashing: Hashing = unlimited,
  ): Promise<{ userId: string; shown: UsedCredential } | 'other_password' | null> {
    const link = await this.find(secret);
    if (!link) return null;
    const password = 'password' in credential ? credential.password : null;
    const { known, hash } =
      password === null
        ? { known: null, hash: null }
        : await hashing(async () => {
            const known = link.unproven ? await this.shown(link, password) : null;
            return { known, hash: known ? null : await hashPassword(password) };
          });
    if (link.unproven && !known && 'password' in credential && !credential.replaces) return 'other_password';
    // Whoever has just followed a mail to choose a first password needs no second one that says so.
    const first = link.passwordSalt === null && !link.passkeys;
    const notice = hash === null || first ? sql`NULL` : this.notices.mail('password_changed', sql`d.id`);
    const [row] = await this.db.lookUp<{ id: string | null }>(sql`
      SELECT d.id, CASE WHEN d.id IS NOT NULL THEN ${notice} END FROM (SELECT use_password_link(${hashOfToken(secret)}, ${hash},
        ${known}, ${'passkeyId' in credential ? credential.passkeyId : null}) AS id) d`);
    const shown = 'passkeyId' in credential ? credential : { passwordHash: (hash ?? known)! };
    return row?.id ? { userId: row.id, shown } : null;
  }

  private async requestMail(
    kind: 'password_reset' | 'address_confirmation' | 'wrong_passwords',
    to: string,
    link: EmailLink,
    life: number,
    secretHash: Buffer | null,
  ): Promise<void> {
    const content = sealEmail(this.vault, ownSender(this.env), { kind, to, firstName: null, role: 'admin', link });
    await this.db.lookUp(sql`
      SELECT request_password_link(${uuidv7()}, ${normalizeEmail(to)}, ${secretHash}, ${`${life} ms`}::interval, ${content},
        ${kind})`);
  }

  /** The hash of a password, if it is the login's. */
  private async shown({ userId, passwordSalt }: Link, password: string): Promise<string | null> {
    const hash = await hashAs(password, passwordSalt);
    return (await this.identities.opens(userId, hash)) ? hash : null;
  }

  private async find(secret: string): Promise<Link | undefined> {
    const [link] = await this.db.lookUp<Link>(sql`
      SELECT user_id AS "userId", email, unproven, password_salt AS "passwordSalt", passkeys FROM password_link(${hashOfToken(secret)})`);
    return link;
  }

  private make(life: number): { secret: string; url: string; expiresAt: Date } {
    const secret = newToken();
    const url = `${this.env.portalUrl}/password/${secret}`;
    return { secret, url, expiresAt: new Date(Date.now() + life) };
  }
}
