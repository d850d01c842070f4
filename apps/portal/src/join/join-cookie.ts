import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Contact } from '@app/people';
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
      contact: Contact;
    }
  /** The invite was declined. */
  | { step: 'declined'; organization: string; closed: boolean; belongs: boolean; contact: Contact };

/** Long enough for somebody to look up a password (ms). */
const LIFETIME = 2 * 3_600_000;

/** The state of joining, in a sealed cookie. It works before sign-in, and nothing has to be stored or purged. */
@Injectable()
export class JoinCookie {
  constructor(private readonly cookies: Cookies) {}

  set(request: Request, state: JoinState): void {
    this.cookies.seal(request, 'join', { ...state, until: Date.now() + LIFETIME });
  }

  /** The state in this step; null when there is none. */
  read<Step extends JoinState['step']>(request: Request, step: Step): Extract<JoinState, { step: Step }> | null {
    const state = this.cookies.open(request, 'join') as (Extract<JoinState, { step: Step }> & { until: number }) | null;
    return state?.step === step && state.until > Date.now() ? state : null;
  }

  /** The proof that came with this link. */
  proofOf(request: Request, secret: string): string | null {
    const opened = this.read(request, 'opened');
    return opened?.secret === secret ? opened.proof : null;
  }
}
