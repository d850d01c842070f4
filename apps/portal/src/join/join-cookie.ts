import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Vault } from '@app/config';
import { Cookies } from '../web/cookies.js';

/** The state that a browser keeps between the pages of joining. */
export type JoinState =
  /** The mail's link was opened. Its second secret leaves the address bar, and survives signing in. */
  | { step: 'opened'; secret: string; proof: string }
  /** The invite was accepted. Holds what the last page tells this person. */
  | {
      step: 'joined';
      userId: string;
      organizationId: string;
      organization: string;
      role: string;
      waits: boolean;
      confirmationMailed: boolean;
      /** Whether this service sends mail at all. */
      mails: boolean;
    };

/** Long enough for somebody to look up a password (ms). */
const LIFETIME = 2 * 3_600_000;

/** The state of joining, in an encrypted cookie. It works before sign-in, and nothing has to be stored or purged. */
@Injectable()
export class JoinCookie {
  constructor(
    private readonly vault: Vault,
    private readonly cookies: Cookies,
  ) {}

  set(response: Response, state: JoinState): void {
    const text = JSON.stringify({ ...state, until: Date.now() + LIFETIME });
    this.cookies.set(response, 'join', this.vault.seal('join cookies', text).toString('base64url'));
  }

  /** The state in this step; null when there is none. */
  read<Step extends JoinState['step']>(request: Request, step: Step): Extract<JoinState, { step: Step }> | null {
    const sealed = this.cookies.get(request, 'join');
    if (!sealed) return null;
    try {
      const text = this.vault.open('join cookies', Buffer.from(sealed, 'base64url'));
      const state = JSON.parse(text) as Extract<JoinState, { step: Step }> & { until: number };
      return state.step === step && state.until > Date.now() ? state : null;
    } catch {
      // Tampered with, or encrypted with an earlier key.
      return null;
    }
  }

  /** The proof that came with this link. */
  proofOf(request: Request, secret: string): string | null {
    const opened = this.read(request, 'opened');
    return opened?.secret === secret ? opened.proof : null;
  }
}
