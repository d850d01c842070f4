import { Controller, Get, Module, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { MembershipOffers } from '@app/access';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { manages, Public, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import { formats } from '../web/formats.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { Sessions, type SignedIn } from '../web/sessions.js';
import { readEntered, readProof } from './entered-secret.js';
import { JoinCookie } from './join-cookie.js';
import { JoinService } from './join.service.js';

/** The pages on which people accept invites, from a mail's link or with a link or code that somebody gave them. */
@Controller()
@Public()
class JoinController {
  constructor(
    private readonly join: JoinService,
    private readonly cookie: JoinCookie,
    private readonly sessions: Sessions,
    private readonly offers: MembershipOffers,
  ) {}

  @Get('join')
  box(): Page {
    return page('join/code', { code: '', problem: null });
  }

  @Post('join')
  enter(@SentForm() form: Form): Page | SeeOther {
    const code = form.text('code');
    const entered = readEntered(code);
    if (!entered) {
      const problem = 'This is not a valid code. A code has 12 letters and digits, and never contains 0, O, 1, I or L.';
      return page('join/code', { code: code.slice(0, 1_000), problem }, 422);
    }
    const { secret, proof } = entered;
    return seeOther(`/join/${secret}${proof ? `?${new URLSearchParams({ proof }).toString()}` : ''}`);
  }

  /** The next steps after accepting. Declared before `join/:secret`, which would match it. */
  @Get('join/done')
  async done(@Session() session: SignedIn | null, @Req() request: Request): Promise<Page | SeeOther> {
    const joined = this.cookie.read(request, 'joined');
    // Somebody else may have signed in with this browser since.
    if (!joined || joined.userId !== session?.userId) return seeOther('/');
    const membership = session.memberships.find(({ organizationId }) => organizationId === joined.organizationId);
    // A parent who belongs already may still wait for another child.
    const waiting = joined.waits ? await this.offers.waiting(this.sessions.secretOf(request)) : [];
    const asked = waiting.find((one) => one.organizationId === joined.organizationId && one.role === joined.role);
    // Removed from the organization in the meantime, or declined.
    if (!membership && !asked) return seeOther('/');
    const { organization: name, ...rest } = joined;
    const pages = membership ? `/${manages(membership) ? 'o' : 'my'}/${membership.slug}` : null;
    const since = asked && formats(asked.timeZone).dateTime(asked.since);
    return page('join/joined', { ...rest, name, pages, asked, since });
  }

  /** Tells the person what became of their invite. Declared before `join/:secret`, which would match this path. */
  @Get('join/declined')
  declined(@Req() request: Request): Page | SeeOther {
    const declined = this.cookie.read(request, 'declined');
    if (!declined) return seeOther('/join');
    const { organization: name, ...rest } = declined;
    return page('join/declined', { ...rest, name });
  }

  /** Changes nothing: mail scanners open links. */
  @Get('join/:secret')
  async show(
    @Param('secret') secret: string,
    @Query('proof') proof: unknown,
    @Req() request: Request,
  ): Promise<Page | SeeOther> {
    const entered = readEntered(secret);
    if (proof === undefined || !entered) return this.join.show(secret, request);
    const given = readProof(proof);
    if (given) this.cookie.set(request, { step: 'opened', secret: entered.secret, proof: given });
    return seeOther(`/join/${entered.secret}`);
  }

  @Post('join/:secret')
  accept(@Param('secret') secret: string, @Req() request: Request): Promise<Page | SeeOther> {
    return this.join.accept(secret, request);
  }

  /** Needs no account, as whoever holds the link could also accept. */
  @Post('join/:secret/decline')
  decline(@Param('secret') secret: string, @Req() request: Request): Promise<Page | SeeOther> {
    return this.join.decline(secret, request);
  }

  /** JSON for the passkey script. The passkey itself is sent with the form. */
  @Post('join/:secret/passkey/options')
  passkeyOptions(@Param('secret') secret: string, @Req() request: Request): Promise<object> {
    return this.join.passkeyOptions(secret, request);
  }

  /** For somebody who is signed in with another account. */
  @Post('join/:secret/sign-out')
  async signOut(@Param('secret') secret: string, @Req() request: Request): Promise<SeeOther> {
    await this.sessions.close(request);
    const entered = readEntered(secret);
    return seeOther(entered ? `/join/${entered.secret}` : '/join');
  }
}

@Module({ imports: [PasskeysModule], controllers: [JoinController], providers: [JoinCookie, JoinService] })
export class JoinModule {}
