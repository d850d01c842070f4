import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Env } from '@app/config';

/** The cookies of the portal. All are readable by the server alone, and of no use to other sites. */
export type CookieName = 'session' | 'flash' | 'passkey' | 'join';

/** Over https their names begin with `__Host-`, which binds them to this very host: no subdomain can plant one. */
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

  /** @param value letters, digits, `-` and `_` */
  set(response: Response, name: CookieName, value: string): void {
    response.cookie(this.nameOf(name), value, this.options);
  }

  clear(response: Response, name: CookieName): void {
    response.clearCookie(this.nameOf(name), this.options);
  }

  /** Lax: whoever follows a link from a mail is signed in; forms of other sites are refused anyway. */
  private get options() {
    return { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' } as const;
  }

  private nameOf(name: CookieName): string {
    return this.secure ? `__Host-${name}` : name;
  }
}
