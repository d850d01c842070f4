import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ForSignedIn, Public, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import type { Page, SeeOther } from '../web/pages.js';
import type { SignedIn } from '../web/sessions.js';
import { PasswordsService } from './passwords.service.js';

/** Pages for forgotten passwords, for setting one with a link, and for changing it. */
@Controller()
export class PasswordsController {
  constructor(private readonly passwords: PasswordsService) {}

  @Get('forgot-password')
  @Public()
  forgotten(): Page {
    return this.passwords.forgotten();
  }

  @Post('forgot-password')
  @Public()
  askForLink(@SentForm() form: Form, @Req() request: Request): Promise<Page> {
    return this.passwords.mailLink(form, request);
  }

  @Get('password/:secret')
  @Public()
  show(@Param('secret') secret: string): Promise<Page> {
    return this.passwords.show(secret);
  }

  @Post('password/:secret')
  @Public()
  set(
    @Param('secret') secret: string,
    @SentForm() form: Form,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page | SeeOther> {
    return this.passwords.set(secret, form, request, response);
  }

  @Post('account/confirmation')
  @ForSignedIn()
  confirmAddress(@SentForm() form: Form, @Session() session: SignedIn): Promise<SeeOther> {
    return this.passwords.mailConfirmation(form, session);
  }

  @Get('account/password')
  @ForSignedIn()
  change(@Session() session: SignedIn): Promise<Page> {
    return this.passwords.showChange(session);
  }

  @Post('account/password')
  @ForSignedIn()
  submitChange(
    @SentForm() form: Form,
    @Session() session: SignedIn,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page | SeeOther> {
    return this.passwords.change(form, session, request, response);
  }
}
