import { createHash } from 'node:crypto';
import { Controller, Get, Module, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Env, hashOfToken } from '@app/config';
import { CalendarFeeds, SchedulingModule } from '@app/scheduling';
import {
  ConfirmIdentity,
  ForManagers,
  ForSignedIn,
  type Managed,
  Managing,
  Public,
  Session,
} from '../web/access.decorators.js';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { type Form, SentForm } from '../web/form.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { type Membership, Sessions, type SignedIn } from '../web/sessions.js';
import { ics } from './ics.js';

/** A calendar is fetched by several devices, and by servers that fetch it for them. */
const FETCHES: AttemptLimit = { purpose: 'fetch of calendar', most: 120, minutes: 60 };
const ADDRESSES: AttemptLimit = { purpose: 'calendar address of', most: 20, minutes: 60 };

const ADDRESS = /^([A-Za-z0-9_-]{43})\.ics$/;

/** Calendars of lessons, for programs that have their secret addresses. */
@Controller('calendar')
@Public()
class CalendarController {
  constructor(
    private readonly feeds: CalendarFeeds,
    private readonly limits: AttemptLimits,
  ) {}

  /** What the person may see now; 304 without drawing it, if that is what the program has. */
  @Get(':address')
  async show(@Param('address') address: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    const [, token] = ADDRESS.exec(address) ?? [];
    if (!token) throw PageError.notFound();
    const feed = await this.feeds.open(token);
    if (!feed) throw PageError.notFound();
    await this.limits.take(FETCHES, hashOfToken(token).toString('base64url'));
    const version = `"${createHash('sha256').update(JSON.stringify(feed)).digest('base64url')}"`;
    response.set({ ETag: version, 'Cache-Control': 'private, max-age=900' });
    if (request.get('If-None-Match') === version) response.status(304).end();
    else response.type('text/calendar; charset=utf-8').send(ics(feed));
  }
}

/** The addresses of the person who is signed in, one for each organization. */
@Controller('account/calendar')
@ForSignedIn()
class AddressController {
  constructor(
    private readonly sessions: Sessions,
    private readonly feeds: CalendarFeeds,
    private readonly limits: AttemptLimits,
    private readonly env: Env,
  ) {}

  @Get()
  async list(@Session() { memberships }: SignedIn, @Req() request: Request): Promise<Page> {
    const made = new Map(
      (await this.feeds.of(this.sessions.secretOf(request))).map((one) => [one.organizationId, one.since]),
    );
    const organizations = memberships.map(({ organizationId, slug, name }) => ({
      slug,
      name,
      since: made.get(organizationId),
    }));
    return page('calendar/addresses', { organizations });
  }

  @Post('make')
  @ConfirmIdentity('/account/calendar')
  async make(@Session() session: SignedIn, @SentForm() form: Form): Promise<Page> {
    const { organizationId, name } = membershipOf(session, form);
    await this.limits.take(ADDRESSES, session.userId);
    const token = await this.feeds.make(organizationId, session.userId);
    return page('calendar/made', { name, address: `${this.env.portalUrl}/calendar/${token}.ics` });
  }

  @Post('revoke')
  async revoke(@Session() session: SignedIn, @SentForm() form: Form): Promise<SeeOther> {
    const { organizationId } = membershipOf(session, form);
    await this.feeds.end(organizationId, session.userId);
    return seeOther('/account/calendar', 'success', 'The address shows nothing any more.');
  }
}

function membershipOf({ memberships }: SignedIn, form: Form): Membership {
  const found = memberships.find(({ slug }) => slug === form.text('organization'));
  if (!found) throw PageError.notFound();
  return found;
}

/** Managers end somebody's address. */
@Controller('o/:slug/people')
@ForManagers()
class RevokeController {
  constructor(
    private readonly feeds: CalendarFeeds,
    private readonly operations: FormOperations,
  ) {}

  @Post(':user_id/revoke-calendar')
  async revoke(@Managing() organization: Managed, @Param('user_id') id: string): Promise<SeeOther> {
    const ids = { user_id: pathId(id) };
    const revoke = () => this.feeds.revoke(organization.organizationId, ids.user_id);
    const person = `/o/${organization.slug}/people/${ids.user_id}`;
    return this.operations.answer(
      organization,
      'revoke calendar',
      ids,
      revoke,
      person,
      'The address shows nothing any more.',
    );
  }
}

@Module({
  imports: [SchedulingModule],
  controllers: [CalendarController, AddressController, RevokeController],
})
export class CalendarModule {}
