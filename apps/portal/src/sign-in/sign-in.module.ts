import { Controller, Get, Module, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { SignIn } from '@app/people';
import { normalizeEmail } from '@app/database';
import { networkOf } from '@app/serving';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { Public, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { nextPath } from '../web/next-path.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordAttempts } from '../web/password-attempts.js';
import { PasswordWork } from '../web/password-work.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { ConfirmController } from './confirm.controller.js';

/** Signing in with a password, and signing out. */
@Controller()
@Public()
class SignInController {
  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
    private readonly attempts: PasswordAttempts,
    private readonly work: PasswordWork,
  ) {}

  @Get('sign-in')
  show(@Session() session: SignedIn | null, @Query('next') next: unknown): Page | SeeOther {
    if (session) return seeOther(nextPath(next));
    return page('sign-in/sign-in', { next: nextPath(next), email: '', problem: null });
  }

  /** Answers known and unknown addresses alike, and after the same work. */
  @Post('sign-in')
  async withPassword(@SentForm() form: Form, @Req() request: Request): Promise<Page | SeeOther> {
    const [email, password, next] = [form.text('email'), form.exact('password'), nextPath(form.text('next'))];
    const refused = (problem: string, status: number) =>
      page('sign-in/sign-in', { next, email: email.slice(0, 254), problem }, status);
    if (email === '' || password === '') return refused('Enter your email address and password.', 422);
    const check = () => this.signIn.withPassword(email, password.slice(0, 1_000));
    const login = await this.attempts.check(
      request,
      { address: normalizeEmail(email.slice(0, 254)), next },
      () => this.work.run(networkOf(request.ip), check),
      (found) => found === null,
    );
    if (!login) return refused('The email address or password is wrong.', 422);
    await this.sessions.open(request, login.id, login);
    return seeOther(next);
  }

  @Post('sign-out')
  async signOut(@Req() request: Request): Promise<SeeOther> {
    await this.sessions.close(request);
    return seeOther('/sign-in', 'success', 'You are signed out.');
  }
}

@Module({ imports: [PasskeysModule], controllers: [SignInController, ConfirmController] })
export class SignInModule {}
