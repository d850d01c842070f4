import { Controller, Get, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Identities, SignIn } from '@app/people';
import { normalizeEmail } from '@app/database';
import { networkOf } from '@app/serving';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { ForSignedIn, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { nextPath } from '../web/next-path.js';
import { SignInNeeded } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordAttempts } from '../web/password-attempts.js';
import { PasswordWork } from '../web/password-work.js';
import { Sessions, type SignedIn } from '../web/sessions.js';

/** Errors at the two ways to confirm. */
interface Problems {
  password?: string;
  passkey?: string;
}

/** Showing a password or passkey again, before what the cookie alone does not open (`@ConfirmIdentity`). */
@Controller('confirm')
@ForSignedIn()
export class ConfirmController {
  constructor(
    private readonly signIn: SignIn,
    private readonly identities: Identities,
    private readonly sessions: Sessions,
    private readonly passkeys: PasskeysService,
    private readonly attempts: PasswordAttempts,
    private readonly work: PasswordWork,
  ) {}

  @Get()
  async show(
    @Session() session: SignedIn,
    @Query('next') next: unknown,
    @Req() request: Request,
  ): Promise<Page | SeeOther> {
    return session.confirmed ? seeOther(nextPath(next)) : this.formPage(request, nextPath(next));
  }

  @Post()
  async confirm(
    @Session() session: SignedIn,
    @SentForm() form: Form,
    @Req() request: Request,
  ): Promise<Page | SeeOther> {
    const [next, password] = [nextPath(form.text('next')), form.exact('password')];
    const again = (problems: Problems) => this.formPage(request, next, problems);
    const withPasskey = form.exact('assertion') !== '';
    if (!withPasskey && password === '') return again({ password: 'Enter your password.' });
    const shown = withPasskey
      ? await this.passkeys.use(form.json('assertion'), request)
      : await this.check(password, session, next, request);
    if (!shown) return again({ password: 'This is not the password of your account.' });
    if ('userId' in shown && shown.userId !== session.userId) {
      return again({ passkey: `This passkey belongs to another account, not to ${session.email}.` });
    }
    // What was right a moment ago has been changed since, and that has ended the session.
    if (!(await this.sessions.confirm(request, shown))) throw new SignInNeeded(next);
    return seeOther(next);
  }

  /** Counted with the wrong passwords at the sign-in: a stolen cookie allows no more guesses. */
  private check(password: string, { email }: SignedIn, next: string, request: Request) {
    const check = () => this.signIn.withPassword(email, password.slice(0, 1_000));
    return this.attempts.check(
      request,
      { address: normalizeEmail(email), next },
      () => this.work.run(networkOf(request.ip), check),
      (found) => found === null,
    );
  }

  private async formPage(request: Request, next: string, problems: Problems = {}): Promise<Page> {
    const [login, passkeys] = await Promise.all([
      this.identities.find(normalizeEmail(request.session!.email)),
      this.passkeys.list(request),
    ]);
    const ways = { password: login?.passwordSalt != null, passkey: passkeys.length > 0 };
    return page('sign-in/confirm', { next, ways, problems }, Object.keys(problems).length > 0 ? 422 : 200);
  }
}
