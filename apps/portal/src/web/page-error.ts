import type { Away } from '@app/database';
import type { HttpFault } from '@app/serving';

/** Ends a request with a page that says why, and what to do next. */
export class PageError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly headers: Record<string, string> = {},
    readonly template = 'web/error',
    readonly data: object = {},
  ) {
    super(message);
  }

  /** For records that do not exist, and for those of others. */
  static notFound(): PageError {
    return new PageError(404, 'Page not found', 'There is nothing at this address. It may have been moved or removed.');
  }

  static forbidden(message: string): PageError {
    return new PageError(403, 'You cannot open this page', message);
  }

  static crossSite(): PageError {
    return new PageError(
      403,
      'This form was not sent from here',
      'Your browser reported that the form came from another site, or did not report where it came from. Open the page again over https, in a current browser, and send the form from there.',
    );
  }

  static badForm(): PageError {
    return new PageError(400, 'This form cannot be read', 'Go back, reload the page, and send the form again.');
  }

  /** The form was shown to somebody else, who has signed out of this browser since. */
  static anotherPerson(): PageError {
    return new PageError(
      409,
      'Another account is signed in now',
      'This form was opened by somebody signed in with another account, so nothing was changed. Open the page again to use your own account.',
    );
  }

  static tooMany(seconds: number): PageError {
    return new PageError(429, 'Too many attempts', `Please wait ${waitOf(seconds)}, then try again.`, {
      'Retry-After': String(seconds),
    });
  }

  /** After too many wrong passwords: it is not even compared, but a passkey or a mailed link works. @param data `next`: the page after a sign-in */
  static otherWays(seconds: number, data: { email: string; next: string; sendsMail: boolean }): PageError {
    const ways = data.sendsMail ? 'with a passkey or a link that we email you' : 'with a passkey';
    const message = `Too many wrong passwords were entered from here. You can still sign in ${ways}, or try the password again in ${waitOf(seconds)}.`;
    const headers = { 'Retry-After': String(seconds) };
    return new PageError(429, 'Sign in another way', message, headers, 'web/other-ways', data);
  }

  /** While a file of the organization is being sent. */
  static oneFileAtATime(): PageError {
    const message =
      'A file of your organization is being downloaded already. Wait until it is complete, then try again.';
    return new PageError(503, 'One file at a time', message, { 'Retry-After': '5' });
  }

  /** For violations of HTTP itself. Browsers cause them with too many cookies or a slow network. */
  static fromHttp({ status }: HttpFault): PageError {
    const [title, message] = HTTP_FAULTS[status] ?? UNREADABLE;
    return new PageError(status, title, message);
  }

  /** For load balancers; pages are served until the end. */
  static restarting(): PageError {
    return new PageError(503, 'Restarting', 'This server is restarting. Please try again in a few seconds.', {
      'Retry-After': '5',
    });
  }

  /** Of an organization that is being moved to another installation, or has moved. nginx passes a 421 on to its new home. */
  static notAtHome({ movedTo }: Away): PageError {
    if (movedTo !== null)
      return new PageError(
        421,
        'This organization has moved',
        'It is on another server now. Ask one of its owners for the new address.',
        { 'Moved-To': movedTo },
      );
    const message =
      'This organization is being moved to another server. Nothing can be changed until that is done: please try again in some minutes.';
    return new PageError(503, 'Back in some minutes', message, { 'Retry-After': '30' });
  }

  static databaseAway(): PageError {
    return new PageError(
      503,
      'Back in a moment',
      'The database cannot be reached right now. Nothing is lost: please try again in a minute.',
      { 'Retry-After': '10' },
    );
  }
}

/** At capacity. Refusing must cost next to nothing: only the access line is logged, and the stack is captured once. */
export const BUSY = new PageError(
  503,
  'Very busy right now',
  'Too many pages are being requested right now. Nothing is lost: please try again in a few seconds.',
  { 'Retry-After': '5' },
);

const UNREADABLE = [
  'This request cannot be read',
  'Your browser sent something that is not a valid page request.',
] as const;
const HTTP_FAULTS: Partial<Record<number, readonly [title: string, message: string]>> = {
  408: ['This took too long', 'Your request did not arrive in time. Please send it again.'],
  431: [
    'Your browser sent too much data',
    'The address and the cookies are too long. Delete the cookies of this site, then open the page again.',
  ],
};

function waitOf(seconds: number): string {
  if (seconds >= 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}

/** Another page comes first, which leads back to this one. */
export abstract class Detour extends Error {
  /**
   * @param next the page to return to
   * @param unsent for somebody who has sent a form
   */
  constructor(
    readonly page: string,
    readonly next: string | null,
    readonly unsent: string,
  ) {
    super(`${page} comes first`);
  }
}

/** The page requires signing in. */
export class SignInNeeded extends Detour {
  constructor(next: string | null) {
    super('/sign-in', next, 'You had been signed out, so the form was not sent. Sign in and send it again.');
  }
}

/** The page requires a password or passkey, which the person has not shown lately. */
export class ConfirmationNeeded extends Detour {
  constructor(next: string | null) {
    super(
      '/confirm',
      next,
      'Nothing was changed yet. Please send the form again after you have confirmed that it is you.',
    );
  }
}
