import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { Cookies } from '../web/cookies.js';
import { PageError } from '../web/page-error.js';

/** Who a passkey is created for: somebody signed in, by their session, or somebody with an invite, by its secret. */
export type RegistrationPurpose = `registration of ${string}` | `joining with ${string}`;
/** What a challenge is for, so that one for signing in cannot register a passkey. */
export type Purpose = 'sign-in' | RegistrationPurpose;

interface Note {
  purpose: Purpose;
  challenge: string;
  /** For a registration: the login that was named to the device. */
  loginId?: string;
}

const LIFE = 5 * 60_000;

const USED: AttemptLimit = { purpose: 'passkey challenge', most: 1, minutes: 10 };

/** Challenges that an authenticator signs, kept in a sealed cookie. Each works once, because its uses are counted. */
@Injectable()
export class Challenges {
  constructor(
    private readonly cookies: Cookies,
    private readonly limits: AttemptLimits,
  ) {}

  keep(request: Request, note: Note): void {
    this.cookies.seal(request, 'passkey', { ...note, until: Date.now() + LIFE });
  }

  /** Takes this browser's challenge for the purpose. @throws PageError if it has none */
  take(request: Request, purpose: Purpose): Note {
    const note = this.cookies.open(request, 'passkey') as (Note & { until: number }) | null;
    this.cookies.clear(request, 'passkey');
    if (note?.purpose !== purpose || note.until < Date.now()) throw PageError.badForm();
    return note;
  }

  /** Uses up a challenge that an authenticator has signed. @throws PageError if it was used before */
  async use({ challenge }: Note): Promise<void> {
    if ((await this.limits.count(USED, challenge)) > 0) throw PageError.badForm();
  }
}
