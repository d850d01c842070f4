import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { nextPath } from '../web/next-path.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { SignInService } from './sign-in.service.js';

@Controller()
export class SignInController {
  constructor(
    private readonly signIn: SignInService,
    private readonly sessions: Sessions,
  ) {}

  @Get('sign-in')
  @Public()
  show(@Session() session: SignedIn | null, @Query('next') next: unknown): Page | SeeOther {
    if (session) return seeOther(nextPath(next));
    return page('sign-in/sign-in', { next: nextPath(next), email: '', problem: null });
  }

  @Post('sign-in')
  @Public()
  submit(
    @SentForm() form: Form,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page | SeeOther> {
    return this.signIn.withPassword(form, request, response);
  }

  @Post('sign-out')
  @Public()
  async signOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<SeeOther> {
    await this.sessions.close(request, response);
    return seeOther('/sign-in', { kind: 'success', text: 'You are signed out.' });
  }
}
