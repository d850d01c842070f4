import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Vault } from '@app/config';
import { Cookies } from './cookies.js';

/** A message at the top of the next page, such as the result of an action. Never a secret. */
export interface Flash {
  kind: 'success' | 'notice' | 'problem';
  text: string;
}

/** Messages for the page after a redirect, in an encrypted cookie, so that nobody can forge them. */
@Injectable()
export class Flashes {
  constructor(
    private readonly vault: Vault,
    private readonly cookies: Cookies,
  ) {}

  set(response: Response, flash: Flash): void {
    this.cookies.set(response, 'flash', this.vault.seal('flash messages', JSON.stringify(flash)).toString('base64url'));
  }

  /** The message for this page, which is then gone. */
  take(request: Request, response: Response): Flash | null {
    const sealed = this.cookies.get(request, 'flash');
    if (!sealed) return null;
    this.cookies.clear(response, 'flash');
    try {
      return JSON.parse(this.vault.open('flash messages', Buffer.from(sealed, 'base64url'))) as Flash;
    } catch {
      // Forged, or encrypted with an earlier key.
      return null;
    }
  }
}
