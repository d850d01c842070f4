import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Env } from '@app/config';

/** The cookies of the portal. Only the server can read them, and other sites cannot use them. */
export type CookieName = 'session' | 'flash' | 'passkey' | 'join' | 'device';

/** Sets cookies. Over https, their names begin with `__Host-`, so that no subdomain can set one. */
@Injectable()
export class Cookies {
  private readonly secure: boolean;

  constructor(env: Env) {
    this.secure = env.portalUrl.startsWith('https:');
  }

  get(request: Request, name: CookieName): string | null {
    const wanted = `${this.nameOf(name)}=`;
    const header = request.headers.cookie ?? '';
    const found = header.split(';').find((part) => part.trimStart().startsWith(wanted));
    return found?.trim().slice(wanted.length) ?? null;
  }

  /**
   * @param value letters, digits, `-` and `_`
   * @param maxAge ms; without it, the browser forgets the cookie when it is closed
   */
  set(response: Response, name: CookieName, value: string, maxAge?: number): void {
    response.cookie(this.nameOf(name), value, { ...this.options, ...(maxAge && { maxAge }) });
  }

  clear(response: Response, name: CookieName): void {
    response.clearCookie(this.nameOf(name), this.options);
  }

  /** Lax, so that people who follow a link in a mail are signed in. Forms of other sites are refused anyway. */
  private get options() {
    return { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' } as const;
  }

  private nameOf(name: CookieName): string {
    return this.secure ? `__Host-${name}` : name;
  }
}
