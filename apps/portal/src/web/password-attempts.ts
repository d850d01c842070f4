import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PasswordLinks } from '@app/people';
import { Outbox } from '@app/jobs';
import { type AttemptLimit, AttemptLimits, type Counted } from './attempt-limits.js';
import { KnownBrowsers } from './known-browsers.js';
import { networkOf } from '@app/serving';
import { PageError } from './page-error.js';

/** For a browser that has signed in to this login before: nobody else can use this allowance up. */
const IN_KNOWN_BROWSER: AttemptLimit = { purpose: 'password in', most: 10, minutes: 15 };
/** Of all other browsers in a network, at one login. */
const AT_LOGIN_FROM_NETWORK: AttemptLimit = { purpose: 'password at and from', most: 10, minutes: 15 };
/** Bounds how many logins a network tries a popular password at. More than a school's typing errors of one morning. */
const FROM_NETWORK: AttemptLimit = { purpose: 'password from', most: 200, minutes: 15 };
/** Refuses nothing: beyond it, the login's owner is warned. */
const UNTIL_WARNING: AttemptLimit = { purpose: 'wrong passwords at', most: 20, minutes: 60 };
const WARNINGS: AttemptLimit = { purpose: 'warning of wrong passwords at', most: 1, minutes: 24 * 60 };

/** Limits wrong passwords, wherever one is entered for an address. Right ones never count. */
@Injectable()
export class PasswordAttempts {
  constructor(
    private readonly limits: AttemptLimits,
    private readonly browsers: KnownBrowsers,
    private readonly links: PasswordLinks,
    private readonly outbox: Outbox,
  ) {}

  /** The same for known and unknown addresses. @throws PageError 429 after too many wrong passwords, with other ways to sign in */
  async check<T>(
    request: Request,
    { address, next }: { address: string; next: string },
    compare: () => Promise<T>,
    isWrong: (result: T) => boolean,
  ): Promise<T> {
    const network = networkOf(request.ip);
    const browser = await this.browsers.find(request, address);
    const limits: Counted[] = browser
      ? [[IN_KNOWN_BROWSER, browser]]
      : [
          // First, so that a network beyond it leaves no counter for each address that it makes up.
          [FROM_NETWORK, network],
          [AT_LOGIN_FROM_NETWORK, `${address} ${network}`],
        ];
    const result = await this.limits.attempt(limits, compare, isWrong, (wait) =>
      PageError.otherWays(wait, { email: address, next, sendsMail: this.outbox.sendsMail }),
    );
    if (!browser && isWrong(result) && this.outbox.sendsMail) await this.warn(address);
    return result;
  }

  /** Once a day at most. */
  private async warn(address: string): Promise<void> {
    if ((await this.limits.count(UNTIL_WARNING, address)) === 0) return;
    if ((await this.limits.count(WARNINGS, address)) === 0) await this.links.warn(address);
  }
}
