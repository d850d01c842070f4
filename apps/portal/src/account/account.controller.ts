import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { ForSignedIn, Session } from '../web/access.decorators.js';
import { browserOf } from '../web/browser-name.js';
import { type Form, SentForm } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { NamesService } from './names.service.js';

/** More would make the page slow. The others can be ended together. */
const MOST_SESSIONS = 25;

/** The account of the person who is signed in, independent of organizations. */
@Controller('account')
export class AccountController {
  constructor(
    private readonly sessions: Sessions,
    private readonly passkeys: PasskeysService,
    private readonly names: NamesService,
  ) {}

  @Get()
  @ForSignedIn()
  async show(@Req() request: Request): Promise<Page> {
    const [sessions, passkeys] = await Promise.all([this.sessions.list(request), this.passkeys.list(request)]);
    return page('account/account', {
      passkeys,
      sessions: sessions
        .slice(0, MOST_SESSIONS)
        .map((session) => ({ ...session, browser: browserOf(session.userAgent) })),
      moreSessions: sessions.length > MOST_SESSIONS,
    });
  }

  @Get('name')
  @ForSignedIn()
  name(@Session() session: SignedIn): Page {
    return this.names.show(session);
  }

  @Post('name')
  @ForSignedIn()
  changeName(@SentForm() form: Form, @Session() session: SignedIn, @Req() request: Request): Promise<Page | SeeOther> {
    return this.names.change(form, session, request);
  }

  @Post('sessions/end-others')
  @ForSignedIn()
  async endOthers(
    @Session() session: SignedIn,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SeeOther> {
    const ended = await this.sessions.endOthers(request, response, session);
    const text =
      ended === 0
        ? 'No other browser was signed in.'
        : ended === 1
          ? 'One other browser was signed out.'
          : `${ended} other browsers were signed out.`;
    return seeOther('/account', { kind: 'success', text });
  }

  @Post('sessions/:session_id/end')
  @ForSignedIn()
  async endOne(@Param('session_id') id: string, @Req() request: Request): Promise<SeeOther> {
    if (!(await this.sessions.endOne(request, pathId(id)))) throw PageError.notFound();
    return seeOther('/account', { kind: 'success', text: 'The browser was signed out.' });
  }
}
