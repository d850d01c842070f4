import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import sql from 'sql-template-tag';
import { hashPassword, Identities, isEmail, isPassword, PasswordLinks, refusedPassword } from '@app/accounts';
import { Database, normalizeEmail } from '@app/database';
import { Outbox } from '@app/jobs';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import type { Form } from '../web/form.js';
import { networkOf } from '../web/network.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordWork } from '../web/password-work.js';
import { Sessions, type SignedIn } from '../web/sessions.js';

const LINKS_FROM_NETWORK: AttemptLimit = { purpose: 'password link from', most: 20, minutes: 60 };
/** More mails than that are a nuisance to whoever gets them. */
const LINKS_TO_ADDRESS: AttemptLimit = { purpose: 'password link to', most: 3, minutes: 60 };
const OPENED_FROM_NETWORK: AttemptLimit = { purpose: 'password link opened from', most: 60, minutes: 15 };
const CHANGES: AttemptLimit = { purpose: 'password change of', most: 10, minutes: 15 };

@Injectable()
export class PasswordsService {
  constructor(
    private readonly links: PasswordLinks,
    private readonly identities: Identities,
    private readonly sessions: Sessions,
    private readonly limits: AttemptLimits,
    private readonly work: PasswordWork,
    private readonly outbox: Outbox,
    private readonly db: Database,
  ) {}

  forgotten(email = '', problem: string | null = null): Page {
    return page('passwords/forgotten', { email, problem, sendsMail: this.outbox.sendsMail }, problem ? 422 : 200);
  }

  /** Says the same for every address; who has a login finds a mail. */
  async mailLink(form: Form, request: Request): Promise<Page> {
    const email = form.text('email');
    if (!isEmail(email)) return this.forgotten(email.slice(0, 254), 'Enter your email address.');
    await this.limits.take(LINKS_FROM_NETWORK, networkOf(request.ip));
    const wait = await this.limits.count(LINKS_TO_ADDRESS, normalizeEmail(email));
    if (wait === 0 && this.outbox.sendsMail) await this.links.mail(email);
    return page('passwords/mailed', { email, sendsMail: this.outbox.sendsMail });
  }

  async show(secret: string, request: Request): Promise<Page> {
    await this.limits.take(OPENED_FROM_NETWORK, networkOf(request.ip));
    const link = await this.links.look(secret);
    return link ? page('passwords/set', { secret, email: link.email, problem: null }) : page('passwords/gone', {}, 404);
  }

  async set(secret: string, form: Form, request: Request, response: Response): Promise<Page | SeeOther> {
    await this.limits.take(OPENED_FROM_NETWORK, networkOf(request.ip));
    const password = form.exact('password');
    const link = await this.links.look(secret);
    if (!link) return page('passwords/gone', {}, 404);
    const problem = refusedPassword(password);
    if (problem) return page('passwords/set', { secret, email: link.email, problem }, 422);
    const set = await this.work.run(networkOf(request.ip), () => this.links.use(secret, password));
    if (!set) return page('passwords/gone', {}, 404);
    await this.sessions.open(request, response, set.userId, set);
    return seeOther('/', { kind: 'success', text: 'Your password is set, and you are signed in.' });
  }

  async showChange(session: SignedIn): Promise<Page> {
    return page('passwords/change', { hasPassword: await this.hasPassword(session), problems: {} });
  }

  /** Ends every session; this browser gets a new one. */
  async change(form: Form, session: SignedIn, request: Request, response: Response): Promise<Page | SeeOther> {
    await this.limits.take(CHANGES, session.userId);
    const [current, password] = [form.exact('current_password'), form.exact('password')];
    const login = await this.identities.find(normalizeEmail(session.email));
    const stored = login?.passwordHash ?? null;
    const right =
      stored === null ||
      (await this.work.run(networkOf(request.ip), () => isPassword(current.slice(0, 1_000), stored)));
    const problems = {
      ...(!right && { current: 'This is not your current password.' }),
      ...(refusedPassword(password) !== null && { password: refusedPassword(password) }),
    };
    if (Object.keys(problems).length > 0) {
      return page('passwords/change', { hasPassword: stored !== null, problems }, 422);
    }
    const passwordHash = await this.work.run(networkOf(request.ip), () => hashPassword(password));
    const [row] = await this.db.lookUp<{ id: string | null }>(
      sql`SELECT change_password(${this.sessions.secretOf(request)}, ${passwordHash}) AS id`,
    );
    if (!row?.id) throw PageError.notFound();
    await this.limits.forgive(CHANGES, session.userId);
    await this.sessions.open(request, response, row.id, { passwordHash });
    return seeOther('/account', {
      kind: 'success',
      text: 'Your password was changed. All other browsers were signed out.',
    });
  }

  private async hasPassword({ email }: SignedIn): Promise<boolean> {
    return ((await this.identities.find(normalizeEmail(email)))?.passwordHash ?? null) !== null;
  }
}
