import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Env, Vault } from '@app/config';

/** Cookies whose JSON value only this service can read or change, each with its own key. */
const SEALED = {
  flash: 'flash messages',
  passkey: 'passkey challenges',
  join: 'join cookies',
  device: 'device cookies',
} as const;

type SealedName = keyof typeof SEALED;
type CookieName = SealedName | 'session';

/** The portal's cookies: no scripts, no other sites. Over https their names begin with `__Host-`, so that no subdomain can set one. */
@Injectable()
export class Cookies {
  private readonly secure: boolean;

  constructor(
    env: Env,
    private readonly vault: Vault,
  ) {
    this.secure = env.portalUrl.startsWith('https:');
  }

  get(request: Request, name: CookieName): string | null {
    const wanted = `${this.nameOf(name)}=`;
    const header = request.headers.cookie ?? '';
    const found = header.split(';').find((part) => part.trimStart().startsWith(wanted));
    return found?.trim().slice(wanted.length) ?? null;
  }

  /** @param value letters, digits, `-` and `_` @param maxAge ms; without it, the browser forgets the cookie when it is closed */
  set({ res: response }: Request, name: CookieName, value: string, maxAge?: number): void {
    response!.cookie(this.nameOf(name), value, { ...this.options, ...(maxAge && { maxAge }) });
  }

  /** Removes a cookie if the request has it. */
  clear(request: Request, name: CookieName): void {
    if (this.get(request, name) !== null) request.res!.clearCookie(this.nameOf(name), this.options);
  }

  /** The value of a sealed cookie; null without one, or if it is forged or was sealed with an earlier key. */
  open(request: Request, name: SealedName): unknown {
    const sealed = this.get(request, name);
    if (!sealed) return null;
    try {
      return JSON.parse(this.vault.open(SEALED[name], Buffer.from(sealed, 'base64url')));
    } catch {
      return null;
    }
  }

  seal(request: Request, name: SealedName, value: object, maxAge?: number): void {
    const sealed = this.vault.seal(SEALED[name], JSON.stringify(value));
    this.set(request, name, sealed.toString('base64url'), maxAge);
  }

  /** Lax, so that people who follow a link in a mail are signed in. Forms of other sites are refused anyway. */
  private get options() {
    return { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' } as const;
  }

  private nameOf(name: CookieName): string {
    return this.secure ? `__Host-${name}` : name;
  }
}
