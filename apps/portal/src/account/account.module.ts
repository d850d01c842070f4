import { Controller, Get, Module, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AccountDeletions } from '@app/access';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { ForSignedIn, Session } from '../web/access.decorators.js';
import { browserOf } from '../web/browser-name.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { DataController } from './data.controller.js';
import { DeleteController } from './delete.controller.js';
import { DeletionRounds } from './deletion-rounds.js';
import { NameController } from './name.controller.js';

/** More would make the page slow. The others can be ended together. */
const MOST_SESSIONS = 20;

/** The account of the person who is signed in, independent of organizations. */
@Controller('account')
@ForSignedIn()
class AccountController {
  constructor(
    private readonly sessions: Sessions,
    private readonly passkeys: PasskeysService,
    private readonly deletions: AccountDeletions,
  ) {}

  @Get()
  async show(@Req() request: Request): Promise<Page> {
    const [sessions, passkeys, { due }] = await Promise.all([
      this.sessions.list(request),
      this.passkeys.list(request),
      this.deletions.of(this.sessions.secretOf(request)),
    ]);
    const shown = sessions.slice(0, MOST_SESSIONS).map((one) => ({ ...one, browser: browserOf(one.userAgent) }));
    return page('account/account', {
      ...{ passkeys, sessions: shown, moreSessions: sessions.length > MOST_SESSIONS, deletedOn: due },
    });
  }

  @Post('sessions/end-others')
  async endOthers(@Session() session: SignedIn, @Req() request: Request): Promise<SeeOther> {
    const ended = await this.sessions.endOthers(request, session);
    const others = ended === 1 ? 'One other browser was' : `${ended} other browsers were`;
    const text = ended === 0 ? 'No other browser was signed in.' : `${others} signed out.`;
    return seeOther('/account', 'success', text);
  }

  @Post('sessions/:session_id/end')
  async endOne(@Param('session_id') id: string, @Req() request: Request): Promise<SeeOther> {
    if (!(await this.sessions.endOne(request, pathId(id)))) throw PageError.notFound();
    return seeOther('/account', 'success', 'The browser was signed out.');
  }
}

@Module({
  imports: [PasskeysModule],
  controllers: [AccountController, NameController, DataController, DeleteController],
  providers: [DeletionRounds],
})
export class AccountModule {}
