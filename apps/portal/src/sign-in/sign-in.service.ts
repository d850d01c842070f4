import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SignIn } from '@app/accounts';
import { normalizeEmail } from '@app/database';
import { networkOf } from '@app/serving';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import type { Form } from '../web/form.js';
import { nextPath } from '../web/next-path.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordWork } from '../web/password-work.js';
import { Sessions } from '../web/sessions.js';

const FROM_NETWORK: AttemptLimit = { purpose: 'sign-in from', most: 60, minutes: 15 };
/** Per login and network, so that guesses from elsewhere don't lock out the login's owner. */
const AT_LOGIN_FROM_NETWORK: AttemptLimit = { purpose: 'sign-in at and from', most: 10, minutes: 15 };
/** Per login, from all networks, which limits distributed guessing. */
const AT_LOGIN: AttemptLimit = { purpose: 'sign-in at', most: 100, minutes: 60 };

@Injectable()
export class SignInService {
  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
    private readonly work: PasswordWork,
  ) {}

  /** Answers known and unknown addresses alike, and after the same work. */
  async withPassword(form: Form, request: Request, response: Response): Promise<Page | SeeOther> {
    const [email, password, next] = [form.text('email'), form.exact('password'), nextPath(form.text('next'))];
    const refused = (problem: string, status: number) =>
      page('sign-in/sign-in', { next, email: email.slice(0, 254), problem }, status);
    if (email === '' || password === '') return refused('Enter your email address and password.', 422);
    const [network, address] = [networkOf(request.ip), normalizeEmail(email.slice(0, 254))];
    const both = `${address} ${network}`;
    await this.limits.take(FROM_NETWORK, network);
    await this.limits.take(AT_LOGIN_FROM_NETWORK, both);
    await this.limits.take(AT_LOGIN, address);
    const login = await this.work.run(network, () => this.signIn.withPassword(email, password.slice(0, 1_000)));
    if (!login) return refused('The email address or password is wrong.', 422);
    await this.limits.forgive(AT_LOGIN_FROM_NETWORK, both);
    await this.sessions.open(request, response, login.id, login);
    return seeOther(next);
  }
}
