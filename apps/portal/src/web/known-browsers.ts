import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Cookies } from './cookies.js';

/** A login that this browser has signed in to. */
interface KnownLogin {
  id: string;
  /** Normalized. */
  address: string;
  /** By the database's clock (ms). */
  issuedAt: number;
  /** New with each sign-in. */
  nonce: string;
}

/** The logins of a family's computer. Five with the longest addresses still fit into a cookie. */
const MOST_LOGINS = 5;

/** ms; the database enforces it. */
const LIFETIME = 365 * 86_400_000;

/**
 * Device cookies (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"): a browser remembers, sealed, which logins have signed in with it.
 * Strangers' attempts elsewhere never count against it. It signs nobody in, and is void once password or address change.
 */
@Injectable()
export class KnownBrowsers {
  constructor(
    private readonly db: Database,
    private readonly cookies: Cookies,
  ) {}

  /** What this browser's attempts at the login with this (normalized) address are counted for; null if it is not known. */
  async find(request: Request, address: string): Promise<string | null> {
    const login = this.read(request).find((one) => one.address === address);
    if (!login) return null;
    const [row] = await this.db.lookUp<{ known: boolean }>(
      sql`SELECT is_known_browser(${login.id}, ${new Date(login.issuedAt)}) AS known`,
    );
    return row!.known ? login.nonce : null;
  }

  /** When this browser's device cookie for a login was issued; null without one. */
  issuedAt(request: Request, loginId: string): Date | null {
    const login = this.read(request).find(({ id }) => id === loginId);
    return login ? new Date(login.issuedAt) : null;
  }

  /** Makes this browser known to a login whose credential it has just shown. */
  remember(request: Request, id: string, address: string, issuedAt: Date): void {
    const nonce = randomBytes(12).toString('base64url');
    const others = this.read(request).filter((login) => login.id !== id && login.address !== address);
    const logins = [{ id, address, issuedAt: issuedAt.getTime(), nonce }, ...others].slice(0, MOST_LOGINS);
    this.cookies.seal(request, 'device', logins, LIFETIME);
  }

  private read(request: Request): KnownLogin[] {
    return (this.cookies.open(request, 'device') ?? []) as KnownLogin[];
  }
}
