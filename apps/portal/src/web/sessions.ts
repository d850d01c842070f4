import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { type Contact, CredentialNotices, type UsedCredential } from '@app/people';
import { hashOfToken } from '@app/config';
import { Database, normalizeEmail } from '@app/database';
import { browserOf } from './browser-name.js';
import { Cookies } from './cookies.js';
import { KnownBrowsers } from './known-browsers.js';
import { networkOf } from '@app/serving';
import { SignInNeeded } from './page-error.js';

/** An organization of the person who is signed in, with their role. */
export interface Membership {
  organizationId: string;
  slug: string;
  name: string;
  /** IANA name; the organization's pages show times in it. */
  timeZone: string;
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  /** Whether they are a parent here, beside any other role. */
  isParent: boolean;
  /** Whether it shows families homework and results. */
  sharesLearning: boolean;
  contact: Contact;
}

export interface SignedIn {
  id: string;
  userId: string;
  email: string;
  firstName: string;
  lastName: string;
  /** Whether the address is proven. */
  verified: boolean;
  /** Whether a password or passkey was shown in this session within the last 15 minutes. */
  confirmed: boolean;
  memberships: Membership[];
}

/** A session, as its owner sees it. */
export interface ListedSession {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  userAgent: string;
  network: string;
  current: boolean;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** Undefined when nobody is signed in. */
    session?: SignedIn | undefined;
    /** On a page of an organization: that of the path. */
    membership?: Membership | undefined;
  }
}

/** Sessions of browsers. The database has the SHA-256 of the cookie. Looked up for every request, so that an end takes effect at once. */
@Injectable()
export class Sessions {
  constructor(
    private readonly db: Database,
    private readonly cookies: Cookies,
    private readonly browsers: KnownBrowsers,
    private readonly notices: CredentialNotices,
  ) {}

  /** The person whose session the request has; null without a valid session. */
  async find(request: Request): Promise<SignedIn | null> {
    const secret = this.secretOf(request);
    if (!secret) return null;
    const [session = null] = await this.db.lookUp<SignedIn>(sql`
      SELECT id, user_id AS "userId", email, first_name AS "firstName", last_name AS "lastName", verified, confirmed, memberships
      FROM portal_session(${secret})`);
    return session;
  }

  /**
   * Signs a person in, always with a new secret, so that a planted one is worthless. A browser that is new to the login is reported by mail.
   * @throws SignInNeeded when the credential that the person used is no longer valid
   */
  async open(request: Request, userId: string, shown: UsedCredential): Promise<void> {
    await this.end(request);
    const secret = randomBytes(32);
    const [agent, network] = [request.get('User-Agent') ?? '', networkOf(request.ip)];
    const [password, passkey] = partsOf(shown);
    const signIn = { browser: browserOf(agent), at: new Date().toISOString() };
    const notice = this.notices.mail('new_browser_sign_in', userId, signIn);
    const [row] = await this.db.lookUp<{ address: string; issued_at: Date }>(sql`
      SELECT s.address, s.issued_at, CASE WHEN s.new_browser THEN ${notice} END
      FROM open_portal_session(${uuidv7()}, ${hashOfToken(secret)}, ${userId}, ${agent}, ${network}, ${password}, ${passkey},
        ${this.browsers.issuedAt(request, userId)}) s`);
    if (!row) throw new SignInNeeded(null);
    this.browsers.remember(request, userId, row.address, row.issued_at);
    this.cookies.set(request, 'session', secret.toString('base64url'));
  }

  /** Replaces the secret of the current session. @throws SignInNeeded when the session has ended */
  async renew(request: Request): Promise<void> {
    const secret = randomBytes(32);
    const [row] = await this.db.lookUp<{ renewed: boolean }>(
      sql`SELECT renew_portal_session(${this.secretOf(request)}, ${hashOfToken(secret)}) AS renewed`,
    );
    if (!row!.renewed) throw new SignInNeeded(null);
    this.cookies.set(request, 'session', secret.toString('base64url'));
  }

  /** Notes that the person has shown a password or passkey again. @returns false if it does not open the login of this session */
  async confirm(request: Request, shown: UsedCredential): Promise<boolean> {
    const secret = randomBytes(32);
    const [password, passkey] = partsOf(shown);
    const [row] = await this.db.lookUp<{ confirmed: boolean }>(sql`
      SELECT confirm_portal_session(${this.secretOf(request)}, ${hashOfToken(secret)}, ${password}, ${passkey}) AS confirmed`);
    if (row!.confirmed) this.cookies.set(request, 'session', secret.toString('base64url'));
    return row!.confirmed;
  }

  /** Signs this browser out. */
  async close(request: Request): Promise<void> {
    await this.end(request);
    this.cookies.clear(request, 'session');
  }

  /** All sessions of the person who is signed in, this one first. */
  list(request: Request): Promise<ListedSession[]> {
    return this.db.lookUp<ListedSession>(sql`
      SELECT id, created_at AS "createdAt", last_seen_at AS "lastSeenAt", user_agent AS "userAgent", network, current
      FROM list_portal_sessions(${this.secretOf(request)})`);
  }

  /** Ends another session of the same person. @returns false if there is none with this id */
  async endOne(request: Request, id: string): Promise<boolean> {
    const [row] = await this.db.lookUp<{ ended: boolean }>(
      sql`SELECT end_portal_session(${this.secretOf(request)}, ${id}) AS ended`,
    );
    return row!.ended;
  }

  /** Ends all other sessions of this person, and only this browser stays known to the login. @returns how many */
  async endOthers(request: Request, { userId, email }: SignedIn): Promise<number> {
    const [row] = await this.db.lookUp<{ ended: number; issued_at: Date }>(
      sql`SELECT * FROM end_other_portal_sessions(${this.secretOf(request)})`,
    );
    this.browsers.remember(request, userId, normalizeEmail(email), row!.issued_at);
    return row!.ended;
  }

  /** The hash by which the database finds the request's session. */
  secretOf(request: Request): Buffer | null {
    const secret = Buffer.from(this.cookies.get(request, 'session') ?? '', 'base64url');
    return secret.length === 32 ? hashOfToken(secret) : null;
  }

  private async end(request: Request): Promise<void> {
    const secret = this.secretOf(request);
    if (secret) await this.db.lookUp(sql`SELECT end_portal_session(${secret}, NULL)`);
  }
}

function partsOf(shown: UsedCredential): [passwordHash: string | null, credentialId: Buffer | null] {
  return 'passwordHash' in shown ? [shown.passwordHash, null] : [null, shown.credentialId];
}
