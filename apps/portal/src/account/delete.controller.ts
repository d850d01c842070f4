import { Controller, Get, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { ActingPerson } from '@app/audit';
import { AccountDeletions } from '@app/access';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { By, ConfirmIdentity, ForSignedIn } from '../web/access.decorators.js';
import { type Page, page, type SeeOther, seeOther } from '../web/pages.js';
import { unlessRefused } from '../web/refusals.js';
import { Sessions } from '../web/sessions.js';

const AT = '/account/delete';

/** Each mails the owners of all the person’s organizations. */
const ASKS: AttemptLimit = { purpose: 'account deletion of', most: 5, minutes: 60 };

/** Where people have their own account deleted. */
@Controller('account/delete')
@ForSignedIn()
@ConfirmIdentity()
export class DeleteController {
  constructor(
    private readonly sessions: Sessions,
    private readonly deletions: AccountDeletions,
    private readonly limits: AttemptLimits,
  ) {}

  @Get()
  async show(@Req() request: Request): Promise<Page> {
    return page('account/delete', await this.deletions.of(this.sessions.secretOf(request)));
  }

  @Post()
  async ask(@Req() request: Request, @By() by: ActingPerson): Promise<SeeOther> {
    await this.limits.take(ASKS, by.userId);
    const asked = this.deletions.ask(this.sessions.secretOf(request), by);
    const done = asked.then(() =>
      seeOther(AT, 'success', 'Your account is deleted in seven days, unless you call it off.'),
    );
    return unlessRefused(done, ({ kind, text }) => seeOther(AT, kind, text));
  }

  @Post('call-off')
  async callOff(@Req() request: Request, @By() by: ActingPerson): Promise<SeeOther> {
    const off = await this.deletions.callOff(this.sessions.secretOf(request), by);
    return off
      ? seeOther('/account', 'success', 'Your account stays.')
      : seeOther(AT, 'notice', 'There is nothing to call off any more.');
  }
}
