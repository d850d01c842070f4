import { Controller, Get, Module, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import sql from 'sql-template-tag';
import {
  CredentialNotices,
  hashPassword,
  Identities,
  type LinkCredential,
  PasswordLinks,
  refusedPassword,
  SignIn,
  isEmail,
} from '@app/people';
import { Database, normalizeEmail } from '@app/database';
import { Outbox } from '@app/jobs';
import { networkOf } from '@app/serving';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { ConfirmIdentity, ForSignedIn, Public, Session } from '../web/access.decorators.js';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { type Form, SentForm } from '../web/form.js';
import { KnownBrowsers } from '../web/known-browsers.js';
import { nextPath } from '../web/next-path.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordAttempts } from '../web/password-attempts.js';
import { PasswordWork } from '../web/password-work.js';
import { Sessions, type SignedIn } from '../web/sessions.js';

const LINKS_FROM_NETWORK: AttemptLimit = { purpose: 'password link from', most: 200, minutes: 60 };
/** Strangers can use this up, but then the last mail has a link that is valid for another half an hour. */
const LINKS_TO_ADDRESS: AttemptLimit = { purpose: 'password link to', most: 3, minutes: 30 };
/** For a browser that has signed in to this login before: nobody else can use this allowance up. */
const LINKS_IN_KNOWN_BROWSER: AttemptLimit = { purpose: 'password link in', most: 3, minutes: 60 };
const CONFIRMATIONS: AttemptLimit = { purpose: 'confirmation for', most: 3, minutes: 60 };

/** The pages on which people change their password, and set their first one. */
const [CHANGE, FIRST] = ['/account/password', '/account/first-password'] as const;

/** Pages for forgotten passwords, for setting one with a link, and for changing it. */
@Controller()
class PasswordsController {
  constructor(
    private readonly links: PasswordLinks,
    private readonly identities: Identities,
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
    private readonly browsers: KnownBrowsers,
    private readonly attempts: PasswordAttempts,
    private readonly work: PasswordWork,
    private readonly outbox: Outbox,
    private readonly db: Database,
    private readonly notices: CredentialNotices,
    private readonly passkeys: PasskeysService,
  ) {}

  @Get('forgot-password')
  @Public()
  forgotten(): Page {
    return page('passwords/forgotten', { email: '', problem: null, sendsMail: this.outbox.sendsMail });
  }

  /** Answers the same for every address. Only addresses with a login get a mail. */
  @Post('forgot-password')
  @Public()
  async mailLink(@SentForm() form: Form, @Req() request: Request): Promise<Page> {
    const email = form.text('email');
    const { sendsMail } = this.outbox;
    if (!isEmail(email)) {
      const shown = { email: email.slice(0, 254), problem: 'Enter your email address.', sendsMail };
      return page('passwords/forgotten', shown, 422);
    }
    const address = normalizeEmail(email);
    const browser = await this.browsers.find(request, address);
    if (!browser) await this.limits.take(LINKS_FROM_NETWORK, networkOf(request.ip));
    const limit = browser ? LINKS_IN_KNOWN_BROWSER : LINKS_TO_ADDRESS;
    const wait = await this.limits.count(limit, browser ?? address);
    if (wait === 0 && sendsMail) await this.links.request('password_reset', email);
    return page('passwords/mailed', { email, sendsMail });
  }

  /** Answers the same if no mail is sent, because the address is confirmed or was mailed moments ago. */
  @Post('account/confirmation')
  @ForSignedIn()
  async mailConfirmation(@SentForm() form: Form, @Session() { userId, email }: SignedIn): Promise<SeeOther> {
    const wait = await this.limits.count(CONFIRMATIONS, userId);
    if (wait === 0 && this.outbox.sendsMail) await this.links.request('address_confirmation', email);
    const text = this.outbox.sendsMail
      ? `If ${email} is not confirmed yet, we are sending a link to confirm it. The link is valid for one day.`
      : 'This service does not send email. Ask its operator to confirm your address.';
    return seeOther(nextPath(form.text('next')), 'notice', text);
  }

  /** Not limited: nobody guesses 256 bits. */
  @Get('password/:secret')
  @Public()
  async show(@Param('secret') secret: string): Promise<Page> {
    const link = await this.links.look(secret);
    return link ? page('passwords/set', { secret, ...link, problems: {} }) : page('passwords/gone', {}, 404);
  }

  @Post('password/:secret')
  @Public()
  async set(
    @Param('secret') secret: string,
    @SentForm() form: Form,
    @Req() request: Request,
  ): Promise<Page | SeeOther> {
    const link = await this.links.look(secret);
    if (!link) return page('passwords/gone', {}, 404);
    const refused = (problems: object) => page('passwords/set', { secret, ...link, problems }, 422);
    const withPasskey = form.exact('assertion') !== '';
    const problem = withPasskey ? null : refusedPassword(form.exact('password'));
    if (problem) return refused({ password: problem });
    const credential: LinkCredential = withPasskey
      ? await this.passkeys.use(form.json('assertion'), request)
      : { password: form.exact('password'), replaces: form.text('replaces') === 'yes' };
    const used = await this.links.use(secret, credential, (work) => this.work.run(networkOf(request.ip), work));
    if (used === 'other_password') return refused({ replaces: true });
    if (!used) return page('passwords/gone', {}, 404);
    await this.sessions.open(request, used.userId, used.shown);
    const what = link.unproven ? 'Your address is confirmed' : 'Your password is set';
    return seeOther('/', 'success', `${what}, and you are signed in.`);
  }

  @Get('account/password')
  @ForSignedIn()
  async showChange(@Session() session: SignedIn): Promise<Page | SeeOther> {
    return (await this.hasPassword(session)) ? passwordPage(CHANGE) : seeOther(FIRST);
  }

  /** Asks for the current password, so it needs no other confirmation. Wrong ones count with those at the sign-in. */
  @Post('account/password')
  @ForSignedIn()
  async change(@SentForm() form: Form, @Req() request: Request): Promise<Page | SeeOther> {
    const session = request.session!;
    const current = form.exact('current_password');
    if (!(await this.hasPassword(session))) return seeOther(FIRST);
    const compare = () => this.signIn.withPassword(session.email, current.slice(0, 1_000));
    const right = await this.attempts.check(
      request,
      { address: normalizeEmail(session.email), next: CHANGE },
      () => this.work.run(networkOf(request.ip), compare),
      (found) => found === null,
    );
    return this.store(CHANGE, form, request, right ? null : 'The current password is wrong.');
  }

  @Get('account/first-password')
  @ForSignedIn()
  @ConfirmIdentity()
  async showFirst(@Session() session: SignedIn): Promise<Page | SeeOther> {
    return (await this.hasPassword(session)) ? seeOther(CHANGE) : passwordPage(FIRST);
  }

  /** For somebody who has only passkeys so far. */
  @Post('account/first-password')
  @ForSignedIn()
  @ConfirmIdentity()
  async setFirst(@SentForm() form: Form, @Req() request: Request): Promise<Page | SeeOther> {
    return (await this.hasPassword(request.session!)) ? seeOther(CHANGE) : this.store(FIRST, form, request, null);
  }

  /** Ends every session; this browser gets a new one. */
  private async store(path: string, form: Form, request: Request, wrong: string | null): Promise<Page | SeeOther> {
    const password = form.exact('password');
    const problems = { current: wrong, password: refusedPassword(password) };
    if (problems.current ?? problems.password) return passwordPage(path, problems);
    const passwordHash = await this.work.run(networkOf(request.ip), () => hashPassword(password));
    const notice = this.notices.mail('password_changed', sql`d.id`);
    const [row] = await this.db.lookUp<{ id: string | null }>(sql`
      SELECT d.id, CASE WHEN d.id IS NOT NULL THEN ${notice} END
      FROM (SELECT change_password(${this.sessions.secretOf(request)}, ${passwordHash}) AS id) d`);
    if (!row?.id) throw PageError.notFound();
    await this.sessions.open(request, row.id, { passwordHash });
    return seeOther('/account', 'success', 'Your password was changed. All other browsers were signed out.');
  }

  private async hasPassword({ email }: SignedIn): Promise<boolean> {
    return (await this.identities.find(normalizeEmail(email)))?.passwordSalt != null;
  }
}

function passwordPage(path: string, problems: { current?: string | null; password?: string | null } = {}): Page {
  return page(
    'passwords/change',
    { path, first: path === FIRST, problems },
    Object.keys(problems).length > 0 ? 422 : 200,
  );
}

@Module({ imports: [PasskeysModule], controllers: [PasswordsController] })
export class PasswordsModule {}
